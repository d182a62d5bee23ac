"""Forces, accelerations, inertia and Jacobians in joint coordinates."""
