"""Data model of the kernels: fields of the tables, layout in memory, copies kept aside."""
