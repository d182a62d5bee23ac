"""URDF files as records: XML values, links, joints, loops, collisions, meshes, each checked."""
