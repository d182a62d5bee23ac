"""Records of a URDF file, each value checked: links, joints, loop joints, collisions, meshes."""
