// The image that holds an entry, of this build or of a kernel's own.
#include <gtest/gtest.h>

#include <set>

#include "base/status.h"
#include "catalog/catalog.h"

namespace tessera {
namespace {

std::string why_missing(const Kernel& kernel, const std::string& entry) {
  try {
    image_of(kernel, entry);
  } catch (const StatusError& error) {
    EXPECT_EQ(error.status().code, StatusCode::kUnavailable);
    return error.what();
  }
  return "";
}

TEST(ImageOf, SaysWhatIsNotCompiled) {
  Kernel kernel = all_kernels().front();
  kernel.rows.front().image = "nobody";
  const std::string& entry = kernel.rows.front().entry;
  EXPECT_EQ(compiled_image_of(kernel, entry), nullptr);
  const std::string error = why_missing(kernel, entry);
  EXPECT_NE(error.find("image nobody of kernel " + kernel.name), std::string::npos) << error;
  EXPECT_NE(error.find("'make library'"), std::string::npos) << error;
  EXPECT_THROW(image_of(kernel, "no entry"), StatusError);
}

TEST(ImageOf, NamesEachImageOfAKernelOnce) {
  for (const Kernel& kernel : all_kernels()) {
    std::set<std::string> expected;
    for (const KernelRow& row : kernel.rows) expected.insert(row.image);
    for (const HelperEntry& helper : kernel.helpers) expected.insert(helper.image);
    const std::vector<std::string> names = image_names_of(kernel);
    EXPECT_EQ(std::set<std::string>(names.begin(), names.end()), expected) << kernel.name;
    EXPECT_EQ(names.size(), expected.size()) << kernel.name;
  }
}

TEST(ImageOf, AKernelsOwnImagesComeFirst) {
  Kernel kernel = all_kernels().front();
  kernel.own_images[""].name = "own";
  EXPECT_EQ(image_of(kernel, "whatever").name, "own");
  EXPECT_EQ(images_of(kernel).size(), 1u);
}

// What another build has not is not taken from this one.
TEST(ImageOf, OwnImagesOfSomeEntriesLeaveTheOthersMissing) {
  Kernel kernel = *choose_kernels("12").front().kernel;
  const KernelRow &first = kernel.rows.front(), &last = kernel.rows.back();
  ASSERT_NE(first.image, last.image);
  kernel.own_images[first.image] = {.name = "theirs", .ptx = "mine"};
  EXPECT_EQ(image_of(kernel, first.entry).ptx.view(), "mine");
  EXPECT_EQ(compiled_image_of(kernel, last.entry), nullptr);
  const std::string error = why_missing(kernel, last.entry);
  EXPECT_NE(error.find("image " + last.image + " is not among"), std::string::npos) << error;
  EXPECT_NE(error.find("theirs"), std::string::npos) << error;
}

}  // namespace
}  // namespace tessera
