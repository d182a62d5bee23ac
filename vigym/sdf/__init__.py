"""Import of SDF files, the format of Gazebo and Drake, by way of the URDF reader's records.

`dialect` notes what is not read, `frames` finds the poses of links, joints and frames,
`joint_elements` reads joints in the world, `links` rewrites links as the URDF reader has them,
`read` joins these to a `Robot`, with the joints that carry links and those that close loops, and
`load` builds the mechanism as from a URDF file.
"""
