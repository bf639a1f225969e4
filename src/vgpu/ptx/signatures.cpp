#include "vgpu/ptx/signatures.h"

#include <algorithm>

#include "vgpu/ptx/declaration.h"

namespace tessera::vgpu::ptx {
namespace {

KernelSignature signature_of(const Function& entry) {
  KernelSignature signature;
  signature.name = entry.name;
  signature.max_threads = entry.max_threads;
  signature.required_threads = entry.required_threads;
  std::size_t& end = signature.parameter_bytes;
  for (const Variable& param : entry.params) {
    KernelParameter parameter;
    parameter.name = param.name;
    parameter.type = word_of(param.type);
    parameter.count = param.count;
    parameter.bytes = param.count * param.type.bits / 8;
    parameter.alignment =
        std::max<std::size_t>({1, std::size_t(param.align), param.type.bits / 8u});
    parameter.offset = (end + parameter.alignment - 1) / parameter.alignment * parameter.alignment;
    parameter.is_pointer = param.is_pointer;
    end = parameter.offset + parameter.bytes;
    signature.parameters.push_back(std::move(parameter));
  }
  return signature;
}

}  // namespace

std::vector<KernelSignature> signatures(const Module& module) {
  std::vector<KernelSignature> all;
  for (const Function& function : module.functions) {
    if (function.is_entry && function.has_body) all.push_back(signature_of(function));
  }
  return all;
}

}  // namespace tessera::vgpu::ptx
