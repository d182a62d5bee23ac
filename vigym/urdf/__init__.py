"""URDF files -> Mechanism: a gate that checks the XML, pybullet as second reader, exact merging of fixed joints.

What the importer changes, drops or does not simulate is in `Mechanism.report`; what it cannot read truthfully is one
UrdfError naming file, element, found and expected. Order of work: `node` (XML values), `gate` (links, with `joints`
and `loops`), `tree` (who hangs on whom), `bullet` (second reader), `merge` (bodies), `load` (the Mechanism, with
`closing` for its loops). The way back is `vigym.mechanism.urdf_text`.
"""
