"""The data model of the kernels: fields of the tables, their layout in memory, copies kept aside."""
