"""Changes of dtype and device in forward, and contexts that set the defaults."""

from __future__ import annotations

from exportdiff_strategies.idioms.spec import SAME, Idiom, Kind

TABLE: dict[str, Kind] = {
    "cast": Kind(
        "a change of dtype or device by .to() in forward",
        (
            Idiom("$t = $x.to(torch.float16).to(torch.float32)", lambda b, n: b + 1, "float32"),
            Idiom('$t = $x.to("cpu", torch.float64)', dtype="float64", dtypes=("float32",)),
            Idiom("$t = $x.to($x.device, non_blocking=True)", gives=SAME),
            Idiom("$t = $x.to($x)", gives=SAME),
            Idiom("$t = $x.to(torch.float64, copy=True)", dtype="float64"),
            Idiom("$t = $x.to($x.dtype, copy=True)"),
            Idiom("$t = $x.type(torch.float64)", dtype="float64", dtypes=("float32",)),
            Idiom("$t = $x.cpu()", gives=SAME),
            Idiom(
                "$t = $x.to(self.gain.dtype) * self.gain",
                lambda b, n: 2 * b,
                "bfloat16",
                init="self.gain = nn.Parameter(torch.full((1,), 2.0, dtype=torch.bfloat16))",
                trains=True,
            ),
            Idiom(
                """
                    self.shift = self.shift.to($x.dtype)
                    $t = $x + self.shift
                """,
                lambda b, n: b + 1,
                init='self.register_buffer("shift", torch.ones(1, dtype=torch.float64))',
            ),
            Idiom(
                """
                    self.shift = self.shift.to($x.device)
                    $t = $x + self.shift
                """,
                lambda b, n: b + 1,
                init="self.shift = torch.ones(1)",
            ),
            Idiom(
                """
                    self.head.to($x.dtype)
                    $t = self.head($x.reshape(-1, 1)).view($x.shape)
                """,
                lambda b, n: b + 1,
                init="self.head = nn.Linear(1, 1).double()",
                random=True,
                trains=True,
            ),
            Idiom(
                "$t = self.head.double()($x.double().reshape(-1, 1)).view($x.shape)",
                lambda b, n: b + 1,
                "float64",
                init="self.head = nn.Linear(1, 1)",
                random=True,
                trains=True,
            ),
            Idiom(
                """
                    weight = self.gain.to($x.dtype)
                    $t = $x * weight
                """,
                lambda b, n: 2 * b,
                init="self.gain = nn.Parameter(torch.full((1,), 2.0, dtype=torch.float64))",
                trains=True,
            ),
        ),
    ),
    "defaults": Kind(
        "a context for the default dtype or device",
        (
            Idiom(
                """
                with torch.device("cpu"):
                    ones = torch.ones(1)
                $t = $x + ones
            """,
                lambda b, n: b + 1,
            ),
            Idiom(
                """
                    torch.set_default_dtype(torch.float64)
                    ones = torch.ones(1)
                    torch.set_default_dtype(torch.float32)
                    $t = $x + ones
                """,
                lambda b, n: b + 1,
                "float64",
            ),
            Idiom(
                """
                    before = torch.get_default_dtype()
                    torch.set_default_dtype($x.dtype)
                    try:
                        ones = torch.ones($x.shape)
                    finally:
                        torch.set_default_dtype(before)
                    $t = $x + ones
                """,
                lambda b, n: b + 1,
            ),
            Idiom(
                """
                    with torch.device("meta"):
                        like = torch.empty($x.shape)
                    $t = $x * like.dim()
                """,
                lambda b, n: 4 * b,
            ),
            Idiom("$t = $x.to(torch.get_default_dtype())", dtype="float32", dtypes=("float64",)),
            Idiom(
                """
                    with torch.device($x.device):
                        steps = torch.arange($x.numel())
                    $t = $x + steps.view($x.shape)
                """,
                lambda b, n: b + n,
            ),
            Idiom(
                "$t = $x + ones_like(torch.float64)",
                lambda b, n: b + 1,
                "float64",
                preamble=(
                    """
                        @contextlib.contextmanager
                        def default_dtype(dtype):
                            before = torch.get_default_dtype()
                            torch.set_default_dtype(dtype)
                            yield
                            torch.set_default_dtype(before)


                        def ones_like(dtype):
                            with default_dtype(dtype):
                                return torch.ones(1)
                    """
                ),
                imports=("import contextlib",),
            ),
            Idiom("$t = $x + torch.tensor(1.5).to($x.dtype)", lambda b, n: b + 2),
        ),
    ),
}
