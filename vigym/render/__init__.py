"""Pictures of a mechanism from the poses of its bodies. Imported when the first picture is asked for, not before."""
