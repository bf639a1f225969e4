#include "base/interrupt.h"
#include "cli/app/app.h"

int main(int argc, char** argv) {
  tessera::keep_results_on_interrupt();
  return tessera::cli::run({argv + 1, argv + argc}, argc > 0 ? argv[0] : "");
}
