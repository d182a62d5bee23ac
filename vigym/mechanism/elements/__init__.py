"""Elements of a mechanism: records of bodies, joints, motors, shapes, contacts, each checked when it is made."""
