"""Elements of a mechanism: records of bodies, joints, motors, contacts and their checks."""
