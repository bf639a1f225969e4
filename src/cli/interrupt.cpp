#include "cli/interrupt.h"

#include <csignal>

namespace tessera::cli {
namespace {

volatile std::sig_atomic_t stop_asked = 0;

extern "C" void note_interrupt(int) {
  stop_asked = 1;
  std::signal(SIGINT, SIG_DFL);
}

}  // namespace

void keep_results_on_interrupt() { std::signal(SIGINT, note_interrupt); }

bool interrupted() { return stop_asked != 0; }

}  // namespace tessera::cli
