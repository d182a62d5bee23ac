"""Mechanisms as a person describes them: named bodies, joints, shapes and frames, validated when they are added."""
