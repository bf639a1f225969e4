"""A LLaMA and a GPT-2 with random weights, in plain PyTorch: their products are those of the models of that shape."""
import torch
from torch import nn
from torch.nn import functional


class RmsNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        wide = x.float()
        return (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + 1e-5)).to(x.dtype) * self.weight


def rotated(x):
    """Rotary position embedding of (batch, heads, tokens, size)."""
    size = x.shape[-1]
    rates = 10000.0 ** (-torch.arange(0, size, 2, device=x.device, dtype=torch.float32) / size)
    angles = torch.arange(x.shape[-2], device=x.device, dtype=torch.float32)[:, None] * rates
    cos, sin = (one.to(x.dtype) for one in (angles.cos(), angles.sin()))
    left, right = x[..., :size // 2], x[..., size // 2:]
    return torch.cat((left * cos - right * sin, right * cos + left * sin), -1)


def attention(q, k, v, heads, place=lambda x: x):
    batch, tokens, width = q.shape
    q, k, v = (x.view(batch, tokens, heads, width // heads).transpose(1, 2) for x in (q, k, v))
    out = functional.scaled_dot_product_attention(place(q), place(k), v, is_causal=True)
    return out.transpose(1, 2).reshape(batch, tokens, width)


class LlamaLayer(nn.Module):
    def __init__(self, width, inner, heads):
        super().__init__()
        self.heads = heads
        self.before_attention, self.before_mlp = RmsNorm(width), RmsNorm(width)
        self.q, self.k, self.v, self.o = (nn.Linear(width, width, bias=False) for _ in range(4))
        self.gate, self.up = (nn.Linear(width, inner, bias=False) for _ in range(2))
        self.down = nn.Linear(inner, width, bias=False)

    def forward(self, x):
        y = self.before_attention(x)
        x = x + self.o(attention(self.q(y), self.k(y), self.v(y), self.heads, rotated))
        y = self.before_mlp(x)
        return x + self.down(functional.silu(self.gate(y)) * self.up(y))


class Llama(nn.Module):
    """7 products a layer and one for the logits, none with a bias."""

    def __init__(self, layers=4, width=4096, inner=11008, heads=32, words=32000):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.layers = nn.Sequential(*(LlamaLayer(width, inner, heads) for _ in range(layers)))
        self.norm, self.head = RmsNorm(width), nn.Linear(width, words, bias=False)

    def forward(self, tokens):
        return self.head(self.norm(self.layers(self.embedding(tokens))))


class AddingProduct(nn.Module):
    """As GPT-2 stores its layers: (inputs, outputs), by torch.addmm."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(inputs, outputs) * 0.02)
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, x):
        return torch.addmm(self.bias, x.reshape(-1, x.shape[-1]), self.weight).view(*x.shape[:-1], -1)


class Gpt2Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.before_attention, self.before_mlp = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.o = AddingProduct(width, 3 * width), AddingProduct(width, width)
        self.up, self.down = AddingProduct(width, 4 * width), AddingProduct(4 * width, width)

    def forward(self, x):
        q, k, v = self.qkv(self.before_attention(x)).chunk(3, -1)
        x = x + self.o(attention(q, k, v, self.heads))
        return x + self.down(functional.gelu(self.up(self.before_mlp(x)), approximate="tanh"))


class Gpt2(nn.Module):
    """4 products a layer, each with a bias, and one for the logits."""

    def __init__(self, layers=6, width=768, heads=12, words=50257, positions=2048):
        super().__init__()
        self.embedding, self.positions = nn.Embedding(words, width), nn.Embedding(positions, width)
        self.layers = nn.Sequential(*(Gpt2Layer(width, heads) for _ in range(layers)))
        self.norm = nn.LayerNorm(width)

    def forward(self, tokens):
        x = self.embedding(tokens) + self.positions.weight[:tokens.shape[-1]]
        return self.norm(self.layers(x)) @ self.embedding.weight.T
