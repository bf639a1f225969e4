// Parameters and tile shapes of the launch that splits FP32 operands into two FP16 terms. For host
// and device.
#pragma once

namespace tessera::passes {

// One operand: element (outer, k) of `from` is at outer * from_outer + k * from_k. Each row is
// multiplied by the power of two that brings its largest number to 2^14 ... 2^15, and then split.
// The terms are stored in rows along k for every layout: for each 32 of k, 32 high terms and then
// 32 low terms, with zeros beyond k.
struct SplitOperand {
  const float* from;
  unsigned short* to;
  int* exponents;  // (outer): exponents of the powers of two that undo the scaling of rows
  int* lost;       // one word per CTA: not 0 if digits of its part were lost
  long long outer, k;
  long long from_outer, from_k;
  long long row;     // terms between rows: 2 * k, with k rounded up to a multiple of kTermGroup
  long long strips;  // of kSplitOuter rows, one cluster each; 0: the operand is not split
};

struct SplitParams {
  SplitOperand a, b;
  int low_exponent;  // low terms are multiplied by 2^low_exponent
  // Slabs that fit a CTA's shared memory. A CTA with more slabs reads all but resident - 1 twice.
  int resident;
};

// The part of the split's results that the multiplying kernel reads.
struct TermsOf {
  const int* exponents;
  const int* lost;
  int lost_words;
};

inline constexpr int kSplitThreads = 256;
inline constexpr int kSplitOuter = 32;  // rows per strip
inline constexpr int kSlabK = 128;      // k per slab, which a CTA loads at a time
inline constexpr int kSlabBytes = kSplitOuter * kSlabK * 4;
inline constexpr int kTermGroup = 32;  // neighbours whose high and low terms share 128 bytes
// HW: every GPU allows clusters of eight CTAs. An SM holds two CTAs of seven slabs or four of two.
inline constexpr int kMostSplitCtas = 8, kMostResident = 7, kSplitCtasPerSm = 4;

constexpr long long slabs_of(long long k) { return (k + kSlabK - 1) / kSlabK; }
// Returns the number of CTAs per strip, and of slabs that each CTA keeps in shared memory.
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
