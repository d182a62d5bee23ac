"""URDF import and export.

Import: `read.xml` checks XML values, `read.dialect` notes what is not read, `read.links` reads the
links, joints and loop joints of a file, and the elements that URDF lacks, `convert.tree` orders
the links, `convert.cross_check` compares with pybullet's loader, `convert.merge` makes one body of
links on fixed joints, `convert.inertias` refuses or mends inertias that no rigid body has,
`convert.load` builds the Mechanism, with the loop-closing joints of `convert.loops`.
`Mechanism.notes` lists changed, dropped and ignored elements; a file that cannot be read truthfully
raises an UrdfError that names file, element, found and expected.

Export: `write.write`.
"""
