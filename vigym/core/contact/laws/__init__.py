"""The laws of contacts, friction, skates and wheels, linearized for an iteration."""
