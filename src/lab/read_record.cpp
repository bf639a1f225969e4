// Records from a results file, for tables. What a table does not need stays in the file.
#include <fmt/format.h>

#include <charconv>

#include "lab/record.h"

namespace tessera::lab {
namespace {

// One object of the file, with its path for messages.
class Reader {
 public:
  Reader(const Json& json, std::string path) : json_(json), path_(std::move(path)) {
    if (!json_.is_object()) fail("is not an object");
  }

  template <class T>
  T get(const char* field) const {
    const Json& value = at(field);
    try {
      return value.get<T>();
    } catch (const Json::exception&) {
      throw bad(field, "has a value of another kind than the schema names");
    }
  }
  template <class T>
  std::optional<T> get_optional(const char* field) const {
    return is_null(field) ? std::nullopt : std::optional<T>(get<T>(field));
  }
  std::string text_or_empty(const char* field) const {
    return get_optional<std::string>(field).value_or("");
  }
  bool is_null(const char* field) const { return !json_.contains(field) || json_[field].is_null(); }
  Reader object(const char* field) const { return {at(field), path_ + "." + field}; }
  const Json& at(const char* field) const {
    if (!json_.contains(field)) throw bad(field, "is missing");
    return json_.at(field);
  }
  const Json& json() const { return json_; }

 private:
  StatusError bad(const char* field, const char* rule) const {
    return StatusError(
        Status::bad_argument(fmt::format("the results' field {}.{} {}", path_, field, rule)));
  }
  void fail(const char* rule) const {
    throw StatusError(Status::bad_argument(fmt::format("the results' {} {}", path_, rule)));
  }
  const Json& json_;
  std::string path_;
};

Problem read_problem(const Reader& in) {
  Problem p;
  p.m = in.get<std::int64_t>("m");
  p.n = in.get<std::int64_t>("n");
  p.k = in.get<std::int64_t>("k");
  p.type = parse_type(in.get<std::string>("type"));
  p.order = parse_order(in.get<std::string>("order"));
  set_layout(p, in.get<std::string>("layout"));
  p.lda = in.get<std::int64_t>("lda");
  p.ldb = in.get<std::int64_t>("ldb");
  p.ldc = in.get<std::int64_t>("ldc");
  p.ldd = in.get<std::int64_t>("ldd");
  p.alpha = in.get<double>("alpha");
  p.beta = in.get<double>("beta");
  return p;
}

Summary read_summary(const Reader& in) {
  return {in.get<double>("median"), in.get<double>("p5"), in.get<double>("p95"),
          in.get<std::int64_t>("n")};
}

Count read_count(const Reader& in) {
  return {in.get<std::uint64_t>("warp"), in.get<std::uint64_t>("thread")};
}

Accesses read_accesses(const Reader& in) {
  Accesses out;
  for (const auto& [width, count] : in.json().items()) {
    int bits = 0;  // of "b128"
    std::from_chars(width.data() + 1, width.data() + width.size(), bits);
    out[bits / 8] = read_count(in.object(width.c_str()));
  }
  return out;
}

CountSummary read_counts(const Reader& in) {
  CountSummary c;
  c.tag = in.get<std::string>("tag");
  c.launches = in.get<int>("launches");
  c.total = read_count(in.object("total"));
  c.fma = read_count(in.object("fma"));
  c.matrix = read_count(in.object("matrix"));
  c.barrier = read_count(in.object("bar"));
  c.global_loads = read_accesses(in.object("ld.global"));
  c.global_stores = read_accesses(in.object("st.global"));
  c.shared_loads = read_accesses(in.object("ld.shared"));
  c.shared_stores = read_accesses(in.object("st.shared"));
  c.other_accesses = read_accesses(in.object("ld_st.generic"));
  c.approximate_forms = in.get<std::vector<std::string>>("approximate");
  c.cubin_differences = in.get<std::vector<std::string>>("cubin_differences");
  return c;
}

std::optional<Mode> read_mode(const Reader& in) {
  const std::string name = in.text_or_empty("mode");
  if (name.empty()) return std::nullopt;
  return name == name_of(Mode::kBurst) ? Mode::kBurst : Mode::kSustained;
}

}  // namespace

Record record_from_json(const Json& json) {
  const Reader in(json, "run");
  Record r;
  r.kernel = in.get<std::string>("kernel");
  r.config = in.get<std::string>("config");
  r.image = in.text_or_empty("image");
  r.idea = in.text_or_empty("idea");
  r.problem = read_problem(in.object("problem"));
  r.device = in.get<std::string>("device");
  r.verified = in.get_optional<std::string>("verified");
  r.max_error_ratio = in.get_optional<double>("max_error_ratio");
  r.reason = in.text_or_empty("reason");
  r.fill = in.text_or_empty("fill");
  r.integers = in.text_or_empty("integers");
  r.reference = in.text_or_empty("reference");
  r.mode = read_mode(in);
  if (!in.is_null("time_ms")) r.time_ms = read_summary(in.object("time_ms"));
  r.tflops = in.get_optional<double>("tflops");
  if (!in.is_null("vendor")) {
    const Reader vendor = in.object("vendor");
    r.vendor = VendorTime{vendor.get<std::string>("name"), read_summary(vendor.object("time_ms"))};
  }
  r.ratio_to_vendor = in.get_optional<double>("ratio_to_vendor");
  if (!in.is_null("counts")) r.counts = read_counts(in.object("counts"));
  r.host_seconds = in.get_optional<double>("host_seconds");
  r.lane_instructions_per_s = in.get_optional<double>("lane_instructions_per_s");
  r.command = in.text_or_empty("command");
  return r;
}

std::vector<Record> records_from_json(const Json& file) {
  const Reader in(file, "file");
  const auto schema = in.get<std::string>("schema");
  if (schema != kSchema) {
    throw StatusError(Status::bad_argument(
        fmt::format("the results' schema is '{}', but must be '{}'", schema, kSchema)));
  }
  std::vector<Record> records;
  for (const Json& run : in.at("runs")) records.push_back(record_from_json(run));
  return records;
}

}  // namespace tessera::lab
