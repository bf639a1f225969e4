// Written by tools/calibrate/mine_latencies from public repositories and the output of CUDA 13.0.88
// for sm_75.
#include "sass/model/latency_rows/tables.h"

namespace tessera::sass {
namespace {

using enum DependenceKind;
using enum RegisterFile;
using Class = LatencyClass;

constexpr LatencyRow kRows[] = {
    {kReadAfterWrite, kGeneral, Class::kFma, Class::kPacked, 16},
    {kReadAfterWrite, kGeneral, Class::kFma, Class::kDouble, 6},
    {kReadAfterWrite, kGeneral, Class::kFma, Class::kAny, 8},
    {kReadAfterWrite, kGeneral, Class::kAlu, Class::kPacked, 6},
    {kReadAfterWrite, kGeneral, Class::kAlu, Class::kDouble, 6},
    {kReadAfterWrite, kGeneral, Class::kAlu, Class::kOther, 4},
    {kReadAfterWrite, kGeneral, Class::kAlu, Class::kAny, 8},
    {kReadAfterWrite, kGeneral, Class::kPacked, Class::kFma, 6},
    {kReadAfterWrite, kGeneral, Class::kPacked, Class::kPacked, 6},
    {kReadAfterWrite, kGeneral, Class::kClock, Class::kFma, 6},
    {kReadAfterWrite, kGeneral, Class::kClock, Class::kAlu, 4},
    {kReadAfterWrite, kGeneral, Class::kClock, Class::kUnit, 15},
    {kReadAfterWrite, kGeneral, Class::kClock, Class::kAny, 8},
    {kReadAfterWrite, kGeneral, Class::kOther, Class::kAlu, 4},
    {kReadAfterWrite, kGeneral, Class::kOther, Class::kMemory, 8},
    {kReadAfterWrite, kGeneral, Class::kOther, Class::kAny, 4},
    {kReadAfterWrite, kUniform, Class::kMove, Class::kUnit, 2},
    {kReadAfterWrite, kUniform, Class::kMove, Class::kMove, 5},
    {kReadAfterWrite, kUniform, Class::kVote, Class::kAlu, 2},
    {kReadAfterWrite, kUniform, Class::kVote, Class::kUnit, 2},
    {kReadAfterWrite, kUniform, Class::kVote, Class::kOther, 2},
    {kReadAfterWrite, kUniform, Class::kVote, Class::kAny, 2},
    {kReadAfterWrite, kUniform, Class::kOther, Class::kFma, 11},
    {kReadAfterWrite, kUniform, Class::kOther, Class::kAlu, 6},
    {kReadAfterWrite, kUniform, Class::kOther, Class::kAny, 9},
    {kReadAfterWrite, kPredicate, Class::kAlu, Class::kAlu, 3},
    {kReadAfterWrite, kPredicate, Class::kOther, Class::kGuard, 16},
    {kReadAfterWrite, kPredicate, Class::kOther, Class::kOther, 12},
    {kReadAfterWrite, kPredicate, Class::kOther, Class::kAny, 16},
    {kReadAfterWrite, kUniformPredicate, Class::kUniform, Class::kAny, 4},
    {kWriteAfterWrite, kGeneral, Class::kFma, Class::kDouble, 6},
    {kWriteAfterWrite, kGeneral, Class::kFma, Class::kAny, 8},
    {kWriteAfterWrite, kGeneral, Class::kAlu, Class::kDouble, 6},
    {kWriteAfterWrite, kGeneral, Class::kAlu, Class::kOther, 4},
    {kWriteAfterWrite, kGeneral, Class::kPacked, Class::kPacked, 6},
    {kWriteAfterWrite, kGeneral, Class::kClock, Class::kAlu, 4},
    {kWriteAfterWrite, kGeneral, Class::kClock, Class::kAny, 8},
    {kWriteAfterWrite, kGeneral, Class::kOther, Class::kFma, 5},
    {kWriteAfterWrite, kGeneral, Class::kOther, Class::kWide, 25},
    {kWriteAfterWrite, kGeneral, Class::kOther, Class::kAlu, 4},
    {kWriteAfterWrite, kGeneral, Class::kOther, Class::kClock, 23},
    {kWriteAfterWrite, kGeneral, Class::kOther, Class::kMemory, 16},
    {kWriteAfterWrite, kGeneral, Class::kOther, Class::kUnit, 8},
    {kWriteAfterWrite, kGeneral, Class::kOther, Class::kOther, 12},
    {kWriteAfterWrite, kGeneral, Class::kOther, Class::kAny, 4},
    {kWriteAfterWrite, kUniform, Class::kUniform, Class::kAny, 4},
    {kWriteAfterWrite, kUniform, Class::kVote, Class::kConstant, 9},
    {kWriteAfterWrite, kUniform, Class::kVote, Class::kVote, 26},
    {kWriteAfterWrite, kUniform, Class::kVote, Class::kAny, 2},
    {kWriteAfterWrite, kUniform, Class::kOther, Class::kConstant, 7},
    {kWriteAfterWrite, kUniform, Class::kOther, Class::kAny, 9},
};

}  // namespace

LatencyTable public_latencies_of_sm_75() { return {75, "CUDA 13.0.88", kRows, {}}; }

}  // namespace tessera::sass
