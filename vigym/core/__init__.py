"""Compiled core: arrays in, arrays out; ``README.md`` beside this file is its map."""
