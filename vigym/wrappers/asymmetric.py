"""Actor and critic with observations of their own, for PPO and A2C of stable-baselines3."""

from typing import Any

from gymnasium import spaces
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.torch_layers import (
    BaseFeaturesExtractor,
    CombinedExtractor,
    MlpExtractor,
)
from torch import Tensor


class ActorExtractor(BaseFeaturesExtractor):
    """Features of the actor: the observation without its privileged part."""

    def __init__(self, observation_space: spaces.Dict) -> None:
        super().__init__(observation_space, spaces.flatdim(observation_space["policy"]))

    def forward(self, observations: dict[str, Tensor]) -> Tensor:
        """Return "policy" (n, n_observations)."""
        return observations["policy"]


class AsymmetricPolicy(ActorCriticPolicy):
    """Policy whose actor sees "policy" of an observation, and whose critic sees "privileged", too.

    `SB3VecEnv` has such observations of environments with the option `privileged`. Arguments are
    those of `ActorCriticPolicy`, without extractors of features.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        own = {"features_extractor_class": ActorExtractor, "share_features_extractor": False}
        super().__init__(*args, **{**kwargs, **own})

    def _build_mlp_extractor(self) -> None:
        super()._build_mlp_extractor()
        assert isinstance(self.observation_space, spaces.Dict)
        everything = CombinedExtractor(self.observation_space)
        layers = MlpExtractor(
            everything.features_dim, self.net_arch, self.activation_fn, self.device
        )
        self.vf_features_extractor = everything
        self.mlp_extractor.value_net = layers.value_net
