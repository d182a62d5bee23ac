"""Optional accelerator of compilation: the phases of a kernel are optimised together, once."""
