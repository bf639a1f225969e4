#pragma once

namespace tessera::fuzz {

// Each stops at the first call that does not say what was wrong, or that leaves something behind.
void fail_every_allocation();
void fail_every_driver_call();
void reject_every_image();
// In a process without a driver: what must be said of it.
void use_no_driver(const char* words);

}  // namespace tessera::fuzz
