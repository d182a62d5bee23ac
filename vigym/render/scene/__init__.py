"""What is drawn of a mechanism, and seen from where."""
