"""The options of a simulator, to read: they are fixed, since they were checked against each other."""

OPTIONS = (
    "timestep",
    "order",
    "loops",
    "tolerance",
    "batch",
    "threads",
    "friction_cone",
    "contact_solver",
    "precision",
)


class Chosen:
    """Reads what a simulator was made with."""

    _timestep: float
    _order: int
    _loops: str
    _tolerance: float
    _batch: int | None
    _threads: int
    _cone: tuple[str, str]
    _precision: str

    @property
    def timestep(self) -> float:
        """Size of a step [s]; fixed, as are the other options: they were checked against each other."""
        return self._timestep

    @property
    def order(self) -> int:
        """Order of the method, 2 or 4."""
        return self._order

    @property
    def loops(self) -> str:
        """Where loops are eliminated: "auto", "tail" or "local"."""
        return self._loops

    @property
    def friction_cone(self) -> str:
        """Which forces friction may give: "cone" or "pyramid"."""
        return self._cone[0]

    @property
    def contact_solver(self) -> str:
        """How contacts are solved first: "newton" or "interior_point"."""
        return self._cone[1]

    @property
    def precision(self) -> str:
        """Numbers that steps are made with: "float64" or "float32"."""
        return self._precision

    @property
    def tolerance(self) -> float:
        """Largest scaled residual of an accepted step."""
        return self._tolerance

    @property
    def threads(self) -> int:
        """Largest number of threads that a call is shared by."""
        return self._threads

    @property
    def batch(self) -> int | None:
        """Number of environments, or None for one without a leading axis."""
        return self._batch
