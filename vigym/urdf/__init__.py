"""URDF files -> Mechanism: a gate that checks the XML, pybullet as second reader, exact merging of fixed joints.

What the importer changes, drops or does not simulate is in `Mechanism.report`; what it cannot read truthfully is one
UrdfError naming file, element, found and expected. Order of work: `read.xml` (XML values), `read.links` (links, with
`read.joints` and `read.loops`), `convert.tree` (who hangs on whom), `convert.cross_check` (second reader),
`convert.merge` (bodies), `convert.load` (the Mechanism, with `convert.loops` for its loops). The way back is
`write.write`.
"""
