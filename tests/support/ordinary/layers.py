"""Models made of layers: vision, recurrent networks, attention, embeddings."""

# To mypy, a buffer is a tensor or a module, and what a layer returns is anything.
# mypy: disable-error-code="no-any-return, operator, index, arg-type, no-untyped-call, union-attr"

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.export import Dim
from torch.nn import functional
from torch.nn.utils import parametrizations

from support.ordinary.table import ordinary


def image() -> tuple[Tensor]:
    return (torch.randn(2, 3, 8, 8),)


def sequence() -> tuple[Tensor]:
    return (torch.randn(2, 5, 8),)


def tokens() -> tuple[Tensor]:
    return (torch.tensor([[1, 2, 3], [4, 5, 0]]),)


@ordinary(lambda: (torch.randn(2, 4),), dynamic_shapes=({0: Dim("batch")},))
class Perceptron(nn.Sequential):
    def __init__(self) -> None:
        super().__init__(nn.Linear(4, 8), nn.GELU(), nn.LayerNorm(8), nn.Dropout(0.1), nn.Linear(8, 2))


@ordinary(image)
class SmallCNN(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2))
        self.head = nn.Linear(4, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.features(x).mean((2, 3)))


@ordinary(image, train=True)
class SmallCNNInTraining(SmallCNN):
    pass


@ordinary(image)
class ResidualBlock(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = (nn.Conv2d(3, 3, 3, padding=1) for _ in range(2))
        self.norm = nn.GroupNorm(1, 3)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x: Tensor) -> Tensor:
        y = self.norm(self.second(self.relu(self.first(x))))
        y += x
        return self.relu(y)


@ordinary(image)
class EncoderAndDecoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.down = nn.Conv2d(3, 4, 3, stride=2, padding=1)
        self.up = nn.ConvTranspose2d(4, 3, 2, stride=2)

    def forward(self, x: Tensor) -> Tensor:
        y = self.up(functional.silu(self.down(x)))
        y = functional.interpolate(y, size=x.shape[2:], mode="bilinear", align_corners=False)
        return functional.pixel_unshuffle(torch.cat([x, y], 1), 2)


@ordinary(sequence)
class LongShortTermMemory(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(8, 4, num_layers=2, batch_first=True, bidirectional=True, dropout=0.1)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        out, (hidden, _) = self.lstm(x)
        return out[:, -1], hidden


@ordinary(sequence, train=True)
class GatedRecurrentUnit(nn.GRU):
    def __init__(self) -> None:
        super().__init__(8, 4, batch_first=True)


@ordinary(lambda: (torch.randn(3, 2, 4), torch.zeros(2, 5)))
class StepByStep(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.GRUCell(4, 5)

    def forward(self, xs: Tensor, hidden: Tensor) -> Tensor:
        results = []
        for x in xs:
            hidden = self.cell(x, hidden)
            results.append(hidden)
        return torch.stack(results)


@ordinary(sequence)
class SelfAttention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.attention(x, x, x, need_weights=False)[0]


@ordinary(lambda: sequence() * 3)
class Attention(nn.MultiheadAttention):
    def __init__(self) -> None:
        super().__init__(8, 2, batch_first=True)


@ordinary(sequence, train=True)
class EncoderInTraining(nn.TransformerEncoder):
    def __init__(self) -> None:
        super().__init__(nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True), 2)


@ordinary(lambda: (*sequence(), *sequence()))
class Decoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.TransformerDecoderLayer(8, 2, 16, batch_first=True, norm_first=True)

    def forward(self, x: Tensor, memory: Tensor) -> Tensor:
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1])
        return self.layer(x, memory, tgt_mask=mask, tgt_is_causal=True)


@ordinary(sequence, dynamic_shapes=({1: Dim("length", max=64)},))
class RotaryAttention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(8, 24)
        self.register_buffer("frequencies", 1.0 / 100 ** (torch.arange(0, 4, 2) / 4), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, 2, 4).permute(2, 0, 3, 1, 4)
        angles = torch.outer(torch.arange(length).float(), self.frequencies)
        turn = torch.cat([angles, angles], -1)
        q, k = (each * turn.cos() + each.roll(2, -1) * turn.sin() for each in (q, k))
        out = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return out.transpose(1, 2).reshape(batch, length, width)


@ordinary(tokens)
class TiedLanguageModel(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(6, 8, padding_idx=0)
        self.head = nn.Linear(8, 6, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, ids: Tensor) -> Tensor:
        return self.head(self.embed(ids))


@ordinary(lambda: (torch.tensor([1, 2, 3, 0]), torch.tensor([0, 2])))
class BagOfWords(nn.EmbeddingBag):
    def __init__(self) -> None:
        super().__init__(6, 4, mode="sum")


@ordinary(sequence)
class MixtureOfExperts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Linear(8, 3)
        self.experts = nn.ModuleList(nn.Linear(8, 8) for _ in range(3))

    def forward(self, x: Tensor) -> Tensor:
        weights, chosen = self.gate(x).softmax(-1).topk(2)
        scores = torch.zeros_like(x[..., :3]).scatter(-1, chosen, weights)
        return sum(scores[..., i : i + 1] * expert(x) for i, expert in enumerate(self.experts))


@ordinary(lambda: (torch.randn(2, 4),))
class Parametrized(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = parametrizations.weight_norm(nn.Linear(4, 4))

    def forward(self, x: Tensor) -> Tensor:
        return self.linear(x)


@ordinary(lambda: (torch.randn(2, 4),))
class LowRankAdapter(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.base = nn.Linear(4, 4).requires_grad_(False)
        self.a = nn.Parameter(torch.randn(4, 2))
        self.b = nn.Parameter(torch.zeros(2, 4))

    def forward(self, x: Tensor) -> Tensor:
        return self.base(x) + x @ self.a @ self.b


@ordinary(lambda: (torch.randn(2, 4),))
class SharedLayer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.norms = nn.ModuleDict({"a": nn.LayerNorm(4), "b": nn.LayerNorm(4)})

    def forward(self, x: Tensor) -> Tensor:
        for norm in self.norms.values():
            x = norm(self.layer(x))
        return x


@ordinary(image)
class WindowedAttention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(49))
        grid = torch.stack(torch.meshgrid(torch.arange(4), torch.arange(4), indexing="ij")).flatten(1)
        distance = (grid[:, :, None] - grid[:, None]) + 3
        self.register_buffer("index", distance[0] * 7 + distance[1])

    def forward(self, x: Tensor) -> Tensor:
        windows = x.unfold(2, 4, 4).unfold(3, 4, 4).flatten(2, 3).flatten(3)
        bias = self.table[self.index]
        return (windows.transpose(2, 3) @ windows + bias[:3, :3].mean()).softmax(-1)


@ordinary(lambda: (torch.randn(2, 16),))
class Spectrogram(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("window", torch.hann_window(8))

    def forward(self, x: Tensor) -> Tensor:
        return torch.stft(x, 8, window=self.window, return_complex=True).abs().log1p()


@ordinary(lambda: (torch.randn(2, 3), torch.randn(2, 3)))
class Bilinear(nn.Bilinear):
    def __init__(self) -> None:
        super().__init__(3, 3, 2)
