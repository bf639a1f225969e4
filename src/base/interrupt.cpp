#include "base/interrupt.h"

#include <csignal>

namespace tessera {
namespace {

volatile std::sig_atomic_t stop_asked = 0;

extern "C" void note_interrupt(int) {
  stop_asked = 1;
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

}  // namespace

void keep_results_on_interrupt() {
  std::signal(SIGINT, note_interrupt);
  std::signal(SIGTERM, note_interrupt);  // sent by `timeout` and by batch systems at a time limit
}

bool interrupted() { return stop_asked != 0; }

}  // namespace tessera
