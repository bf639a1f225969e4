"""Hints that only the hardware heeds: the virtual GPU runs them and goes on."""

from core import Kernel, prologue


def write_all():
    body = prologue(0, 4) + """\
  setmaxnreg.dec.sync.aligned.u32 24;
  griddepcontrol.launch_dependents;
  griddepcontrol.wait;
  setmaxnreg.inc.sync.aligned.u32 40;
  pmevent 1;
  nanosleep.u32 10;
  st.global.u32 [to], i;
  ret;"""
    Kernel(
        "hints_of_hopper",
        "setmaxnreg, griddepcontrol, pmevent",
        body,
        [([], [(k, 32)]) for k in range(128)],
        target="sm_90a",
        version="8.6",
    ).write()
