#include "common/device/cuda/tensor_type.h"

#include <set>

namespace roofwalk {
namespace {

// Returns the type of a tensor instruction; nullopt if no metric counts that type.
std::optional<TensorType> type_of(const ptx::Instruction& in) {
  if (in.type != in.sum_type) return std::nullopt;
  switch (in.source_type) {
    case ptx::Type::f16:
      return in.type == ptx::Type::f16 ? TensorType::f16_f16 : TensorType::f16_f32;
    case ptx::Type::bf16:
      return TensorType::bf16_f32;
    case ptx::Type::tf32:
      return TensorType::tf32_f32;
    case ptx::Type::f64:
      return TensorType::f64;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<TensorType> tensor_type_of(const ptx::Module& module) {
  std::set<std::optional<TensorType>> types;
  for (const ptx::Function& function : module.functions) {
    for (const ptx::Instruction& in : function.instructions) {
      if (ptx::info(in.opcode).form != ptx::Form::matrix_multiply || !ptx::is_float(in.type)) continue;
      types.insert(type_of(in));
    }
  }
  return types.size() == 1 ? *types.begin() : std::nullopt;
}

}  // namespace roofwalk
