"""What tests of bulk copies share: kernels with tensor maps, the barrier that a copy signals."""

from core import M32, Kernel, prologue

SM90 = {"target": "sm_90a", "version": "8.6"}


def words(seed, count):
    return [((seed + k) * 2654435761 + 977) & M32 for k in range(count)]


def as_bytes(values):
    return b"".join(v.to_bytes(4, "little") for v in values)


def as_words(data):
    return [int.from_bytes(data[i : i + 4], "little") for i in range(0, len(data), 4)]


class MapKernel(Kernel):
    """A kernel with tensor maps as further parameters, and perhaps clusters."""

    def __init__(self, *args, maps=(), cluster=0, more_notes=(), **kwargs):
        notes = [f"map: {m}" for m in maps] + list(more_notes)
        super().__init__(*args, notes=notes, **SM90, **kwargs)
        self.maps, self.cluster = maps, cluster

    def write(self):
        super().write()
        names = "".join(f", .param .align 64 .b8 map{k}[128]" for k in range(len(self.maps)))
        shape = f".reqnctapercluster {self.cluster}, 1, 1\n" if self.cluster else ""
        text = self.path().read_text()
        self.path().write_text(text.replace(".u64 out)\n{", f".u64 out{names})\n{shape}{{"))


# Thread 0 makes the barrier `bar` for `count` arrivals; `buffer` is 1024-byte aligned.
def start(row_in, row_out, count=1, more="", buffer=4096):
    return prologue(row_in, row_out) + f"""\
  .reg .b32 buffer, bar, at;
  .reg .b64 map, first, last, state;
  .shared .align 1024 .b8 cells[{buffer}];
  .shared .align 8 .b64 object;
{more}  mov.u32 buffer, cells;
  mov.u32 bar, object;
  ld.param.u64 first, [in];
  ld.param.u64 last, [out];
  setp.ne.u32 q, t0, 0;
  @!q mbarrier.init.shared.b64 [bar], {count};
  fence.proxy.async;
  bar.sync 0;
"""


WAIT = """\
WAIT{n}:
  mbarrier.try_wait.parity.shared.b64 p, [bar], {parity};
  @!p bra WAIT{n};
"""


def wait(parity=0, n=""):
    return WAIT.format(parity=parity, n=n)


# Every thread stores 16 bytes of the buffer.
DUMP = """\
  mad.lo.u32 at, t0, 16, buffer;
  ld.shared.v4.b32 {t1, t2, t3, t4}, [at];
  st.global.v4.b32 [to], {t1, t2, t3, t4};
  ret;"""


def rows(inputs, outputs, per_row=4):
    """One case a thread; whatever is longer goes on in further cases."""
    cases = []
    count = max(len(inputs), len(outputs))
    for k in range(0, count, per_row):
        cases.append(
            ([(v, 32) for v in inputs[k : k + per_row]], [(v, 32) for v in outputs[k : k + per_row]])
        )
    return cases
