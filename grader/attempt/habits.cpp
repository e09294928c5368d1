#include "grader/attempt/habits.h"

#include "common/plan/matrix_products.h"
#include "common/record/run_record.h"

namespace roofwalk {
namespace {

bool counts_tensor_products(const RunRecord& record) {
  return record.counters[Counter::flops_tensor].value_or(0) > 0 ||
         record.counters[Counter::tensor_integer_operations].value_or(0) > 0;
}

}  // namespace

void Habits::add(const std::vector<Trial>& trials) {
  for (const Trial& trial : trials) {
    adds_by_atomics |= trial.record.counters[Counter::atomic_flops].value_or(0) > 0;
    multiplies_on_tensor_cores |= counts_tensor_products(trial.record);
  }
}

Result<bool> multiplies_on_tensor_cores(const Rig& rig, const RunRecord& record, const Artifact& artifact,
                                        const Habits& habits) {
  if (counts_tensor_products(record) || habits.multiplies_on_tensor_cores) return true;
  return rig.is_real() ? multiply_matrices(artifact, record.kernels) : Result<bool>(false);
}

}  // namespace roofwalk
