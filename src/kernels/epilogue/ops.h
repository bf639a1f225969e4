// What becomes of a finished value before it is stored. An operation is a function of the value and
// of its row and column in D; a bias or an activation is one more struct like these. Pure
// constexpr: the host tests them.
#pragma once

namespace tessera::epilogue {

struct Identity {
  template <class T>
  constexpr T operator()(T value, long long, long long) const {
    return value;
  }
};

// `second` of what `first` returns.
template <class First, class Second>
struct Then {
  First first;
  Second second;

  template <class T>
  constexpr T operator()(T value, long long row, long long col) const {
    return second(first(value, row, col), row, col);
  }
};

}  // namespace tessera::epilogue
