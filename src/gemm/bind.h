// A problem bound to a kernel and to memory: every rule is checked here, before anything is
// launched.
#pragma once

#include "catalog/catalog.h"
#include "device/device.h"
#include "problem/problem.h"

namespace tessera::gemm {

struct Bound {
  const KernelRow* row;
  Plan plan;
};

// Bytes of device memory that the kernel likes to have beside the operands, on a GPU of that many
// multiprocessors. With fewer it may plan other launches.
std::int64_t workspace_bytes(const KernelChoice& choice, const Problem& problem,
                             int multiprocessors, const PlanOptions& options = {});

// Throws kBadArgument for an illegal problem, a D that shares an element with what is read, or a
// workspace that no plan fits; kUnsupported when the kernel does not take the problem. Launches
// nothing.
Bound bind(const KernelChoice& choice, const Problem& problem, const Operands& operands,
           const PlanContext& context);

// Loads the image once and enqueues the launches in order. Asynchronous where the device is.
void run(Device& device, const KernelChoice& choice, const Plan& plan);

}  // namespace tessera::gemm
