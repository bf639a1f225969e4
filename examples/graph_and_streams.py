"""Products on two streams, and one captured in a CUDA graph, in PyTorch. Needs a GPU."""
import sys

import torch
import tessera

if not torch.cuda.is_available():
    sys.exit("skipped: there is no GPU")
a, b = (torch.randn(1024, 1024, device="cuda", dtype=torch.float64) for _ in range(2))
out = [torch.empty_like(a) for _ in range(2)]
streams = [torch.cuda.Stream() for _ in range(2)]
torch.cuda.synchronize()
for stream, d in zip(streams, out):
    with torch.cuda.stream(stream):
        tessera.matmul(a, b, out=d)
torch.cuda.synchronize()
assert torch.equal(out[0], out[1]), "the same bits on every stream"
assert torch.allclose(out[0], a @ b)

graph = torch.cuda.CUDAGraph()
captured = torch.empty_like(a)
with torch.cuda.graph(graph):
    tessera.matmul(a, b, out=captured)  # its first call on this stream: prepared in the capture
a.mul_(2)
graph.replay()
torch.cuda.synchronize()
assert torch.allclose(captured, a @ b)
print("two streams gave the same bits, and the graph multiplies what is in its operands")
