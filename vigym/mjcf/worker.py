"""Compilation of a model by mujoco, in a process of its own: a program without vigym.

It reads a pickle from standard input: {"xml": text, "models": name -> text of what is attached,
"assets": name -> bytes, "base": text or None, "balance": bool}. It writes a line of JSON,
{"error": text} or {"name": text, "warnings": texts}, and the binary model behind it.
"""

import contextlib
import json
import os
import pickle
import sys
from typing import Any

MOST_MEMORY = 4 << 30  # bytes
MOST_SECONDS = 60


def bound_resources() -> None:
    """Bound memory and time of this process, where the system can."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))


def set_base(spec: Any, free_joint: Any, base: str) -> None:
    """Fix the bodies of the world ("fixed"), or let those without a joint float ("floating")."""
    for body in spec.worldbody.bodies:
        joints = list(body.joints)
        if base == "fixed":
            for joint in joints:
                if joint.type == free_joint:
                    spec.delete(joint)
        elif not joints:
            body.add_freejoint()
    for key in list(spec.keys):  # they have the coordinates of another model
        spec.delete(key)


def main() -> None:
    """Compile the model of standard input to standard output."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print is no answer
    bound_resources()
    given = pickle.load(sys.stdin.buffer)
    import mujoco
    import numpy as np

    warnings: list[str] = []
    mujoco.set_mju_user_warning(warnings.append)  # else mujoco writes them to a file
    try:
        files = {"include": given["models"], "assets": given["assets"]}
        spec = mujoco.MjSpec.from_string(given["xml"], **files)
        if given["base"]:
            set_base(spec, mujoco.mjtJoint.mjJNT_FREE, given["base"])
        if given["balance"]:
            spec.compiler.balanceinertia = True
        model = spec.compile()
        data = np.zeros(mujoco.mj_sizeModel(model), np.uint8)
        mujoco.mj_saveModel(model, None, data)
    except Exception as error:  # of many types; the reason is in its text
        out.write(json.dumps({"error": str(error)}).encode() + b"\n")
    else:
        answer = {"name": spec.modelname, "warnings": warnings}
        out.write(json.dumps(answer).encode() + b"\n" + data.tobytes())
    out.flush()


if __name__ == "__main__":
    main()
