// Parameters and shapes of the launch that splits FP32 operands into two FP16 terms. For host and
// device.
#pragma once

namespace tessera::passes {

// One operand: element (outer, k) of `from` is at outer * from_outer + k * from_k. Its terms are
// rows along k, whatever its layout: for each 32 of k, 32 high terms and then 32 low ones, zeros
// beyond k. Before that, each row is multiplied by the power of two that takes its largest number
// to 2^14 ... 2^15.
struct SplitOperand {
  const float* from;
  unsigned short* to;
  int* exponents;  // (outer): of the power of two that undoes that of the row
  int* lost;       // a word for each CTA: not 0 where terms do not hold its part
  long long outer, k;
  long long from_outer, from_k;
  long long row;     // halves from row to row: 2 * k, rounded up to whole turns
  long long strips;  // of kSplitOuter rows, a cluster each; 0: the operand is left alone
};

struct SplitParams {
  SplitOperand a, b;
  int low_exponent;  // low terms are multiplied by 2 to this power
  // Slabs that fit a CTA's shared memory. Where it has more, it reads all but resident - 1 again.
  int resident;
};

// What a kernel is told of the terms of an operand.
struct TermsOf {
  const int* exponents;
  const int* lost;
  int lost_words;
};

inline constexpr int kSplitThreads = 256;
inline constexpr int kSplitOuter = 32;  // rows of a strip
inline constexpr int kSlabK = 128;      // of k: what a CTA loads at a time
inline constexpr int kSlabBytes = kSplitOuter * kSlabK * 4;
inline constexpr int kTermGroup = 32;  // neighbours whose high and low terms share 128 bytes
// HW: eight CTAs are a cluster on any GPU. Seven slabs: two CTAs an SM; two slabs: four.
inline constexpr int kMostSplitCtas = 8, kMostResident = 7, kSplitCtasPerSm = 4;

constexpr long long slabs_of(long long k) { return (k + kSlabK - 1) / kSlabK; }
// CTAs that share a strip, and slabs that each of them holds.
constexpr int split_ctas(long long k) {
  int ctas = 1;
  while (ctas < kMostSplitCtas && ctas < slabs_of(k)) ctas *= 2;
  return ctas;
}
constexpr int resident_slabs(long long k) {
  const long long of_cta = (slabs_of(k) + split_ctas(k) - 1) / split_ctas(k);
  return of_cta < kMostResident ? static_cast<int>(of_cta) : kMostResident;
}

}  // namespace tessera::passes
