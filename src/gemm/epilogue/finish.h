// Epilogues for every kernel. What a problem with an epilogue multiplies first is the same problem
// without it, whose D holds unrounded sums; a last launch makes D of them:
//
//   D of the type of the sums     alpha A B + beta C goes to D, and is finished there
//   any other D                   alpha A B goes to the workspace, as FP32; C, of any floating
//                                 type, is added with the rest
//
// So D is rounded once, whatever multiplies. WHY not in the store of each kernel alone: a kernel
// that is compiled with an epilogue is one more kernel, and there are sixty.
#pragma once

#include <cstddef>
#include <vector>

#include "gemm/family.h"
#include "kernels/epilogue/finish_params.h"

namespace tessera::gemm {

// Whether kernels apply this epilogue in their store (Kernel::applies_epilogue).
bool is_fused(const Epilogue& epilogue);
// The epilogue as such a kernel is handed it, without addresses; and the patches of these, where it
// begins at `offset` in the parameters.
epilogue::Fused fused_of(const Problem& problem);
void patch_fused(PlannedLaunch& launch, std::size_t offset, const Epilogue& epilogue);

// Expects a legal problem with its leading dimensions. Not ok where no last launch has its types,
// where its sums are more than 63 bits of bytes, or where no array of their addresses is in device
// memory.
Status check_sums(const Problem& problem);
// The problem that is multiplied first.
Problem problem_of_sums(const Problem& problem);
// What the sums of so many products take of the workspace; 0 where D holds them.
std::int64_t bytes_of_sums(const Problem& problem, std::int64_t products);

// An offer for that problem becomes one for the problem itself.
void add_finish(const Problem& problem, const DeviceLimits& limits, Offer& offer);

// The launches of the offer for the sums become those of the problem. `problem`: without a batch
// where the launches are run once for each product.
void add_finish(const Problem& problem, const Offer& offer, const DeviceLimits& limits,
                std::vector<PlannedLaunch>& launches);

}  // namespace tessera::gemm
