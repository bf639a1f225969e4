// Every bug that is planted in tests/kernels/bugs/ is reported by the right check at the right
// line, however the threads run; without the bug the same kernel is right and nothing is reported.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "tests/kernels/run_kernel.h"
#include "tests/kernels/tasks.h"
#include "tests/support/test_device.h"

namespace tessera {
namespace {

struct Bug {
  std::string name;                 // of the .cu file
  std::vector<std::string> checks;  // one of them must report it
  Task task;
  int threads = 128;
  int blocks = 1;
  bool uses_tensor_map = false;
};

void PrintTo(const Bug& bug, std::ostream* out) { *out << bug.name; }

struct Args {
  DeviceAddress in, out, counters, map;
  int n;
};

// The first 4 rows of 32 floats of `in`.
Bytes tensor_map(Device& device, const DeviceBytes& in) {
  TensorMapDesc desc;
  desc.address = in.address();
  desc.sizes = {32, 4};
  desc.strides = {32 * sizeof(float)};
  desc.box = {32, 4};
  const TensorMapBytes map = device.encode_tensor_map(desc);
  return {map.bytes.begin(), map.bytes.end()};
}

struct Outcome {
  Bytes out;
  std::vector<vgpu::Finding> findings;
};

Outcome run(Device& device, const Bug& bug, const std::string& version,
            const vgpu::Observation& observation) {
  const DeviceBytes in(device, bug.task.in), out(device, bug.task.out);
  const DeviceBytes counters(device, Bytes(64));
  const DeviceBytes map(device, bug.uses_tensor_map ? tensor_map(device, in) : Bytes(128));
  Launch launch;
  launch.entry = bug.name + "__" + version;
  launch.shape.grid = bug.blocks;
  launch.shape.block = bug.threads;
  const Args args{in.address(), out.address(), counters.address(), map.address(), bug.task.n};
  Params().add(args).pass_to(launch);
  observe(device, observation);
  Outcome outcome;
  outcome.findings = launch_and_check(device, device.load(kernel_image(bug.name)), launch);
  outcome.out = out.read();
  return outcome;
}

// Name and path of each kernel with a planted bug.
std::map<std::string, std::filesystem::path> bug_files() {
  std::map<std::string, std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator("tests/kernels/bugs")) {
    if (entry.path().extension() == ".cu") files[entry.path().stem().string()] = entry.path();
  }
  return files;
}

// Lines of the kernel's file that end in "<- here".
std::set<int> marked_lines(const std::string& name) {
  std::ifstream file(bug_files()[name]);
  std::set<int> lines;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.ends_with("// <- here")) lines.insert(number);
  }
  return lines;
}

bool is_at(const vgpu::Finding& finding, const std::string& name, const std::set<int>& lines) {
  return !finding.places.empty() && std::ranges::all_of(finding.places, [&](const auto& place) {
    return std::filesystem::path(place.source_file).filename() == name + ".cu" &&
           lines.contains(place.source_line);
  });
}

class PlantedBug : public testing::TestWithParam<Bug> {};

TEST_P(PlantedBug, IsReported) {
  if (test_on_cuda()) GTEST_SKIP() << "broken kernels run on the virtual GPU";
  const Bug& bug = GetParam();
  const std::set<int> lines = marked_lines(bug.name);
  ASSERT_FALSE(lines.empty()) << "no line of " << bug.name << ".cu ends in \"<- here\"";
  for (const vgpu::Observation& observation : checked_schedules()) {
    const Outcome outcome = run(test_device(), bug, "broken", observation);
    const bool reported = std::ranges::any_of(outcome.findings, [&](const auto& finding) {
      EXPECT_FALSE(finding.hint.empty()) << finding.message;
      return std::ranges::count(bug.checks, finding.check) > 0 && is_at(finding, bug.name, lines);
    });
    ASSERT_TRUE(reported) << name_of(observation) << ": " << bug.checks.front()
                          << " was expected; found:\n"
                          << described(outcome.findings);
  }
}

TEST_P(PlantedBug, IsAllThatIsWrong) {
  if (!can_run_kernels(test_device())) GTEST_SKIP() << "kernels for sm_90a";
  const Bug& bug = GetParam();
  for (const vgpu::Observation& observation : checked_schedules()) {
    const Outcome outcome = run(test_device(), bug, "intact", observation);
    ASSERT_EQ(described(outcome.findings), "") << name_of(observation);
    ASSERT_TRUE(outcome.out == bug.task.expected) << name_of(observation);
    if (test_on_cuda()) break;
  }
}

std::vector<Bug> simt_bugs() {
  return {
      {"no_barrier_before_use", {"race"}, reversed(128)},
      {"no_barrier_at_loop_end", {"race"}, sum_of_reversed_rounds(4, 128)},
      {"barrier_in_divergent_branch", {"barrier"}, reversed_and_padded(100, 128)},
      {"barrier_count_wrong", {"deadlock"}, reversed(128)},
      {"barrier_counts_differ", {"barrier"}, reversed(64)},
      {"relies_on_lockstep", {"lockstep"}, sum_modulo_8(32), 32},
      {"two_warps_write_one_tile", {"race"}, a_times_a_transposed(), 64},
      {"tail_out_of_bounds", {"out-of-bounds"}, copied(200), 128, 2},
      {"tail_of_tile_not_zeroed", {"uninitialised-shared-read"}, sum_in_all(100, 128)},
      {"accumulator_not_cleared", {"uninitialised-register-read"}, a_times_a_transposed(), 32},
      {"vector_load_misaligned", {"misaligned"}, sum_of_fours(132, 32), 32},
      {"split_k_without_atomics", {"race"}, sum_of_shares(2, 128), 128, 2},
      {"split_k_without_fence", {"race"}, sum_of_shares_kept(3, 128), 128, 3},
      {"flag_without_acquire", {"race"}, sum_of_shares_kept(2, 128), 128, 2},
      {"shuffle_with_missing_lanes", {"missing-lanes"}, sum_of_neighbours(16, 32), 32},
      {"double_buffer_off_by_one", {"race"}, sum_of_reversed_rounds(4, 128)},
      {"lanes_end_before_barrier", {"race"}, reversed(128)},
      {"epilogue_reuses_tile", {"race"}, sum_plus_reversed_index(128)},
  };
}

std::vector<Bug> ampere_bugs() {
  return {
      {"cp_async_without_wait", {"race"}, reversed(128)},
      {"cp_async_wait_leaves_too_many", {"race"}, sum_of_reversed_rounds(2, 128)},
      {"cp_async_without_barrier", {"race"}, reversed(128)},
      {"cp_async_without_syncwarp", {"lockstep"}, reversed(32), 32},
      {"cp_async_without_commit", {"race"}, reversed(128)},
      {"cp_async_overwrites_tile_in_use", {"race"}, sum_of_reversed_rounds(4, 128)},
      {"cp_async_overwrites_unmet_lane", {"lockstep"}, sum_of_reversed_rounds(4, 32), 32},
      {"cp_async_tail_not_zeroed", {"uninitialised-shared-read"}, sum_in_all(100, 128)},
      {"ldmatrix_misaligned", {"misaligned"}, copied(32), 32},
  };
}

// One load, or the rounds of a ring of stages, by copies of the copy engine.
std::vector<Bug> bulk_copy_bugs() {
  return {
      {"bulk_load_without_wait", {"race"}, reversed(128)},
      {"wait_for_wrong_parity", {"race", "deadlock"}, sum_of_reversed_rounds(6, 128), 160},
      {"expected_bytes_wrong", {"deadlock"}, reversed(128)},
      {"arrivals_miscounted", {"deadlock"}, sum_of_reversed_rounds(6, 128), 160},
      {"stage_never_given_back", {"deadlock"}, sum_of_reversed_rounds(6, 128), 160},
      {"stage_loaded_while_read", {"race"}, sum_of_reversed_rounds(2, 128), 160},
      {"mbarrier_used_before_init", {"missing-init-fence", "barrier"}, reversed(128)},
      {"mbarrier_overwritten", {"mbarrier-bytes"}, reversed(128)},
      {"relaxed_arrival", {"race"}, reversed(128)},
      {"relaxed_wait", {"race"}, reversed(128)},
      {"store_without_proxy_fence", {"missing-proxy-fence"}, reversed(128)},
      {"bulk_store_without_syncwarp", {"lockstep"}, reversed(32), 32},
      {"store_drained_late", {"race"}, copied(512)},
      {"store_not_awaited", {"exit-with-copies-in-flight"}, reversed(128)},
      {"handover_without_way_back", {"race"}, sum_of_reversed_rounds(4, 128), 256},
      {"turn_not_waited_for",
       {"race", "barrier", "deadlock"},
       sum_of_reversed_rounds(24, 128),
       288},
      {"registers_moved_by_one_warp", {"setmaxnreg"}, copied(128)},
  };
}

std::vector<Bug> tensor_copy_bugs() {
  return {
      {.name = "tensor_map_edited_in_use",
       .checks = {"race"},
       .task = sum_of_reversed_rounds(2, 128),
       .uses_tensor_map = true},
      {.name = "tensor_map_edit_not_fenced",
       .checks = {"missing-proxy-fence"},
       .task = sum_of_reversed_rounds(2, 128),
       .uses_tensor_map = true},
      {.name = "tensor_box_larger_than_tile",
       .checks = {"out-of-bounds"},
       .task = reversed(128),
       .uses_tensor_map = true},
      {.name = "tensor_tile_misaligned",
       .checks = {"misaligned"},
       .task = reversed(128),
       .uses_tensor_map = true},
  };
}

std::vector<Bug> cluster_bugs() {
  return {
      {"cluster_exits_early", {"exited-cta", "out-of-bounds"}, neighbours_exchanged(128), 128, 2},
      {"cluster_reads_too_early", {"race"}, neighbours_exchanged(128), 128, 2},
      {"mbarrier_init_not_fenced", {"missing-init-fence"}, neighbours_exchanged(128), 128, 2},
      {"multicast_into_busy_stage", {"race"}, sum_of_reversed_rounds(6, 128), 160, 2},
  };
}

std::vector<Bug> wgmma_bugs() {
  return {
      {"stage_released_before_wgmma_wait", {"race"}, tiles_times_transposed(3), 160},
      {"wgmma_wait_by_one_warp", {"race"}, tiles_times_transposed(2), 160},
      {"register_a_overwritten", {"wgmma-register-in-flight"}, tiles_times_transposed(1)},
      {"accumulator_read_before_wait", {"wgmma-register-in-flight"}, tiles_times_transposed(1, 2)},
      {"wgmma_without_fence", {"missing-wgmma-fence"}, tiles_times_transposed(1)},
      {"wgmma_without_proxy_fence", {"missing-proxy-fence"}, tiles_times_transposed(1)},
  };
}

std::string test_name(const testing::TestParamInfo<Bug>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Simt, PlantedBug, testing::ValuesIn(simt_bugs()), test_name);
INSTANTIATE_TEST_SUITE_P(Ampere, PlantedBug, testing::ValuesIn(ampere_bugs()), test_name);
INSTANTIATE_TEST_SUITE_P(BulkCopy, PlantedBug, testing::ValuesIn(bulk_copy_bugs()), test_name);
INSTANTIATE_TEST_SUITE_P(TensorCopy, PlantedBug, testing::ValuesIn(tensor_copy_bugs()), test_name);
INSTANTIATE_TEST_SUITE_P(Cluster, PlantedBug, testing::ValuesIn(cluster_bugs()), test_name);
INSTANTIATE_TEST_SUITE_P(Wgmma, PlantedBug, testing::ValuesIn(wgmma_bugs()), test_name);

// A kernel that nobody runs proves nothing.
TEST(PlantedBugs, AllFilesAreInTheTable) {
  std::set<std::string> in_table, in_folder;
  for (const auto& bugs : {simt_bugs(), ampere_bugs(), bulk_copy_bugs(), tensor_copy_bugs(),
                           cluster_bugs(), wgmma_bugs()}) {
    for (const Bug& bug : bugs) in_table.insert(bug.name);
  }
  for (const auto& [name, path] : bug_files()) in_folder.insert(name);
  EXPECT_EQ(in_table, in_folder);
}

}  // namespace
}  // namespace tessera
