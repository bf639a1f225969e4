#include "tensors.h"

#include <algorithm>

namespace tessera::torch_abi {

bool view_of(AtenTensorHandle tensor, View* view) {
  std::int64_t *sizes = nullptr, *strides = nullptr;
  std::int32_t layout = -1;
  if (torch.aoti_torch_get_layout(tensor, &layout) || layout != torch.aoti_torch_layout_strided()) {
    return false;
  }
  if (torch.aoti_torch_get_dim(tensor, &view->dims) || torch.aoti_torch_get_sizes(tensor, &sizes) ||
      torch.aoti_torch_get_strides(tensor, &strides) ||
      torch.aoti_torch_get_dtype(tensor, &view->dtype) ||
      torch.aoti_torch_get_device_type(tensor, &view->device_type) ||
      torch.aoti_torch_get_device_index(tensor, &view->device_index) ||
      torch.aoti_torch_get_data_ptr(tensor, &view->address)) {
    return false;
  }
  view->sizes = sizes;
  view->strides = strides;
  return true;
}

Line line_of(std::int64_t rows, std::int64_t cols, std::int64_t by_row, std::int64_t by_col) {
  // The stride of an axis of one element is not used.
  if ((by_col == 1 || cols == 1) && (by_row >= cols || rows == 1)) {
    return {true, TESSERA_N, rows == 1 ? cols : std::max(by_row, cols)};
  }
  if ((by_row == 1 || rows == 1) && by_col >= rows) return {true, TESSERA_T, by_col};
  return {};
}

}  // namespace tessera::torch_abi
