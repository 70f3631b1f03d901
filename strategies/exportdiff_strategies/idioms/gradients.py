"""Gradients in forward, and hooks that replace gradients."""

from __future__ import annotations

from exportdiff_strategies.idioms.spec import Idiom, Kind

_GAIN = "self.gain = nn.Parameter(torch.full((1,), 0.5))"
_HEAD = "self.head = nn.Linear(1, 1)"
_F32 = ("float32",)


def _inner(body: str, init: str = _GAIN) -> Idiom:
    """An idiom that computes a gradient in forward, and uses it as a number."""
    return Idiom(
        body, lambda b, n: b + 64 * (b + 1) ** 2, init=init, random=init == _HEAD, autograd=True, dtypes=_F32
    )


def _replaced(init: str, body: str, trains: bool = True) -> Idiom:
    """An idiom with a hook that replaces a gradient."""
    return Idiom(
        body,
        lambda b, n: 2 * b + 2,
        init=init,
        random=_HEAD in init,
        trains=trains,
        autograd=True,
        dtypes=_F32,
    )


_CALL = "$t = self.head($x.reshape(-1, 1)).view($x.shape)"

TABLE: dict[str, Kind] = {
    "func_grad": Kind(
        "torch.func.grad, or a similar function, of parameters",
        (
            _inner(
                """
                    step = torch.func.grad(lambda gain: (gain * $x).mean())(self.gain)
                    $t = $x - step.detach()
                """
            ),
            _inner(
                """
                    weights = dict(self.head.named_parameters())


                    def loss(weights):
                        return torch.func.functional_call(self.head, weights, ($x.reshape(-1, 1),)).mean()


                    steps = torch.func.grad(loss)(weights)
                    $t = $x - steps["weight"].sum().detach()
                """,
                _HEAD,
            ),
            _inner(
                """
                    step, value = torch.func.grad_and_value(lambda g: (g * $x).square().mean())(self.gain)
                    $t = $x - (step * value).detach()
                """
            ),
            _inner(
                """
                    value, pull = torch.func.vjp(lambda gain: gain * $x, self.gain)
                    $t = $x - pull(value)[0].mean().detach() / $x.numel()
                """
            ),
            _inner(
                """
                    _, push = torch.func.jvp(lambda gain: gain * $x, (self.gain,), (torch.ones(1),))
                    $t = $x + push.detach()
                """
            ),
            _inner(
                """
                    rows = torch.func.jacrev(lambda gain: gain * $x)(self.gain)
                    $t = $x + rows.sum(-1).detach()
                """
            ),
            _inner(
                """
                    with torch.enable_grad():
                        loss = (self.gain * $x.detach()).mean()
                        (step,) = torch.autograd.grad(loss, [self.gain])
                    $t = $x - step
                """
            ),
        ),
    ),
    "gradient_hook": Kind(
        "a hook that replaces a gradient",
        (
            Idiom(
                """
                    $t = $x * 2
                    if $t.requires_grad:
                        $t.register_hook(lambda grad: torch.ones_like(grad))
                """,
                lambda b, n: 2 * b,
                autograd=True,
            ),
            _replaced(
                f"""
                    {_GAIN}
                    self.gain.register_hook(lambda grad: grad.clamp(-1, 1))
                """,
                "$t = $x * self.gain",
            ),
            _replaced(
                f"""
                    {_HEAD}
                    self.head.register_full_backward_hook(lambda module, given, out: (given[0],))
                """,
                _CALL,
            ),
            _replaced(
                f"""
                    {_HEAD}
                    self.head.register_full_backward_pre_hook(lambda module, out: (out[0] * 2,))
                """,
                _CALL,
            ),
            Idiom(
                "$t = $x * self.gain",
                lambda b, n: 2 * b + 2,
                init=f"""
                    {_GAIN}
                    self.gain.register_post_accumulate_grad_hook(halve)
                """,
                preamble="""
                    def halve(weight):
                        weight.grad *= 0.5
                """,
                trains=True,
                autograd=True,
                dtypes=_F32,
            ),
            _replaced(
                _GAIN,
                """
                    scaled = $x * self.gain
                    if scaled.requires_grad:
                        scaled.register_hook(lambda grad: grad * 0.5)
                    $t = scaled + 1
                """,
            ),
            _replaced(
                _GAIN,
                """
                    with torch.autograd.graph.saved_tensors_hooks(lambda v: v, lambda v: v):
                        $t = $x * self.gain
                """,
            ),
        ),
    ),
}
