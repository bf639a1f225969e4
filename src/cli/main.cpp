#include "cli/command.h"
#include "cli/interrupt.h"

int main(int argc, char** argv) {
  tessera::cli::keep_results_on_interrupt();
  return tessera::cli::run({argv + 1, argv + argc});
}
