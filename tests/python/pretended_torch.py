"""Objects that look like PyTorch's tensors on a GPU, of no memory at all: for tests on the stand-in driver, which
never looks. install() puts the module where the package finds it."""
import contextlib
import sys
import types


class Type:
    def __init__(self, name):
        self.name = name

    def __str__(self):
        return "torch." + self.name


class Tensor:
    next_address = 1 << 40
    is_cuda = True
    is_nested = False
    device = types.SimpleNamespace(type="cuda", index=0)
    __torch_dispatch__ = "PyTorch's own"

    def __init__(self, shape, dtype, strides=None, address=None):
        self.shape, self.dtype = tuple(shape), dtype
        self.strides = strides or ((shape[1], 1) if len(shape) == 2 else (1,))
        if address is None:
            address = Tensor.next_address = Tensor.next_address + (1 << 32)
        self.address, self.version = address, 0
        self.layout = torch.strided
        self.requires_grad = self.negative = self.inference = self.zero = False
        self.copies = []

    def stride(self):
        return self.strides

    def get_device(self):
        return 0

    def data_ptr(self):
        return 0 if self.zero else self.address

    def new_empty(self, shape, dtype):
        return _empty(shape, dtype, None)

    def contiguous(self):
        return Tensor(self.shape, self.dtype)

    def is_neg(self):
        return self.negative

    def is_conj(self):
        return False

    def is_inference(self):
        return self.inference

    def _is_zerotensor(self):
        return self.zero

    def resolve_conj(self):
        return self

    def resolve_neg(self):
        return Tensor(self.shape, self.dtype) if self.negative else self

    def copy_(self, other):
        self.copies.append(other)
        self.version += 1


Tensor.__module__ = "torch"
torch = types.ModuleType("torch")
torch.strided = Type("strided")
torch.Tensor, torch.grad_enabled, torch.stream = Tensor, True, 0
torch.float32, torch.float64, torch.int8 = (Type(name) for name in ("float32", "float64", "int8"))
torch.allocated = []  # {stream, tensor} of each new tensor, in order


def _empty(shape, dtype, device):
    made = Tensor(shape, dtype)
    made.address += 1 if dtype is torch.int8 else 0  # as any allocator might
    torch.allocated.append((torch.stream, made))
    return made


@contextlib.contextmanager
def _no_grad():
    before, torch.grad_enabled = torch.grad_enabled, False
    yield
    torch.grad_enabled = before


def _increment_version(tensor):
    tensor.version += 1


torch.empty, torch.no_grad = _empty, _no_grad
torch.zeros = lambda shape, dtype, device: Tensor(shape, dtype)
torch.is_grad_enabled = lambda: torch.grad_enabled
torch.is_inference_mode_enabled = lambda: False
torch.autograd = types.SimpleNamespace(forward_ad=types.SimpleNamespace(_current_level=-1),
                                       graph=types.SimpleNamespace(increment_version=_increment_version))
torch._C = types.SimpleNamespace(_cuda_getCurrentRawStream=lambda index: torch.stream)
torch.cuda = types.SimpleNamespace(
    current_stream=lambda device: types.SimpleNamespace(cuda_stream=torch.stream))


def install():
    sys.modules["torch"] = torch
    return torch
