// SPDX-License-Identifier: Apache-2.0
#include "learning/nn/safetensors.h"

#include <gtest/gtest.h>

#include <cstring>

#include "reference.h"

namespace hourglass::nn {
namespace {

/// A file with this header, as it stands, and `data_bytes` zero bytes behind it.
Bytes file_of(std::string_view header, std::size_t data_bytes) {
  Bytes out(8 + header.size() + data_bytes);
  const std::uint64_t length = header.size();
  std::memcpy(out.data(), &length, 8);
  std::memcpy(out.data() + 8, header.data(), header.size());
  return out;
}

std::string text_of_error(const Bytes& file, Errc code = Errc::malformed) {
  const auto read = read_safetensors(file);
  if (read) return "accepted";
  EXPECT_EQ(read.error().code, code) << read.error().text;
  return read.error().text;
}

TEST(Safetensors, writes_the_bytes_of_the_format) {
  const std::vector<float> values = {1, -2};
  const TensorView view{"a.weight", {2, 1}, values};
  const Bytes file = write_safetensors(std::span(&view, 1), {{"k", "v"}});
  const std::string header = R"({"__metadata__":{"k":"v"},"a.weight":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]}})";
  const std::size_t padded = (header.size() + 7) / 8 * 8;
  ASSERT_EQ(file.size(), 8 + padded + 8);
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), 8);
  EXPECT_EQ(length, padded);
  EXPECT_EQ(as_text(std::span(file).subspan(8, header.size())), header);
  EXPECT_EQ(as_text(std::span(file).subspan(8 + header.size(), padded - header.size())), std::string(padded - header.size(), ' '));
  EXPECT_EQ(from_bytes<float>(std::span(file).subspan(8 + padded)), values);
}

TEST(Safetensors, reads_what_it_wrote) {
  const auto a = random_floats(24, 1), b = random_floats(5, 2);
  const std::vector<float> scalar = {3.5F};
  const std::vector<TensorView> views = {
      {"a", {2, 3, 4}, a}, {"empty", {0, 7}, {}}, {"b \"quoted\" \xc3\xa4", {5}, b}, {"scalar", {}, scalar}};
  const Metadata metadata = {{"format", "pt"}, {"line", "a\nb"}};
  const auto read = read_safetensors(write_safetensors(views, metadata));
  ASSERT_TRUE(read) << read.error().text;
  EXPECT_EQ(read->metadata, metadata);
  ASSERT_EQ(read->tensors.size(), views.size());
  for (std::size_t i = 0; i < views.size(); ++i) {
    EXPECT_EQ(read->tensors[i].name, views[i].name);
    EXPECT_EQ(read->tensors[i].shape, views[i].shape);
    EXPECT_TRUE(std::equal(views[i].values.begin(), views[i].values.end(), read->tensors[i].values.begin(), read->tensors[i].values.end()));
  }
  const auto nothing = read_safetensors(write_safetensors({}, {}));
  ASSERT_TRUE(nothing);
  EXPECT_TRUE(nothing->tensors.empty());
}

TEST(Safetensors, accepts_tensors_in_any_order_of_the_header) {
  const auto read = read_safetensors(
      file_of(R"({"b":{"data_offsets":[4,12],"dtype":"F32","shape":[2]},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}  )", 12));
  ASSERT_TRUE(read) << read.error().text;
  EXPECT_EQ(read->tensors[0].name, "a");
  EXPECT_EQ(read->tensors[1].name, "b");
}

TEST(Safetensors, refuses_every_truncation_and_any_tail) {
  const auto values = random_floats(6, 1);
  const std::vector<TensorView> views = {{"a", {2, 2}, std::span(values).first(4)}, {"b", {2}, std::span(values).last(2)}};
  Bytes file = write_safetensors(views, {{"x", "y"}});
  for (std::size_t size = 0; size < file.size(); ++size) {
    EXPECT_FALSE(read_safetensors(std::span(file).first(size))) << size;
  }
  file.push_back(std::byte{0});
  EXPECT_NE(text_of_error(file).find("behind the last tensor"), std::string::npos);
}

TEST(Safetensors, survives_any_flipped_bit_of_the_header) {
  const auto values = random_floats(4, 1);
  const TensorView view{"weight", {2, 2}, values};
  const Bytes file = write_safetensors(std::span(&view, 1), {{"x", "y"}});
  std::size_t refused = 0;
  for (std::size_t bit = 0; bit < (file.size() - 16) * 8; ++bit) {
    Bytes bad = file;
    bad[bit / 8] ^= std::byte{1} << (bit % 8);
    const auto read = read_safetensors(bad);
    if (!read) {
      ++refused;
      continue;
    }
    ASSERT_LE(read->tensors.size(), 1U);  // a name or a metadata text changed, or a padding blank became other white space
    for (const Tensor& tensor : read->tensors) EXPECT_EQ(tensor.values, values);
  }
  EXPECT_GT(refused, file.size());
}

TEST(Safetensors, refuses_hostile_headers) {
  const std::string good = R"("dtype":"F32","shape":[1])";
  const auto tensor = [&](const std::string& name, const std::string& rest) { return "\"" + name + "\":{" + rest + "}"; };
  struct Hostile {
    std::string header;
    std::size_t data;
    std::string text;
  };
  const Hostile hostile[] = {
      {"{" + tensor("a", good + R"(,"data_offsets":[0,4])") + "," + tensor("b", good + R"(,"data_offsets":[8,12])") + "}", 12, "hole"},
      {"{" + tensor("a", good + R"(,"data_offsets":[0,4])") + "," + tensor("b", good + R"(,"data_offsets":[0,4])") + "}", 4, "overlaps"},
      {"{" + tensor("a", good + R"(,"data_offsets":[4,8])") + "}", 8, "hole"},
      {"{" + tensor("a", good + R"(,"data_offsets":[0,4])") + "," + tensor("a", good + R"(,"data_offsets":[4,8])") + "}", 8, "twice"},
      {"{" + tensor("a", good + R"(,"dtype":"F32","data_offsets":[0,4])") + "}", 4, "twice"},
      {R"({"__metadata__":{"k":"1","k":"2"}})", 0, "twice"},
      {R"({"__metadata__":{},"__metadata__":{}})", 0, "twice"},
      {R"({"__metadata__":{"k":1}})", 0, "number"},
      {R"({"__metadata__":{"k":{}}})", 0, "deep"},
      {R"({"__metadata__":[]})", 0, "list"},
      {R"({"__metadata__":"x"})", 0, "string"},
      {"{" + tensor("a", good + R"(,"data_offsets":[0,8])") + "}", 4, "beyond"},
      {"{" + tensor("a", good + R"(,"data_offsets":[4,0])") + "}", 4, "beyond"},
      {"{" + tensor("a", good + R"(,"data_offsets":[0,18446744073709551615])") + "}", 4, "beyond"},
      {"{" + tensor("a", good + R"(,"data_offsets":[0])") + "}", 4, "two data_offsets"},
      {"{" + tensor("a", good + R"(,"data_offsets":[0,4,4])") + "}", 4, "two data_offsets"},
      {"{" + tensor("a", good + R"(,"data_offsets":[0,-4])") + "}", 4, "negative"},
      {"{" + tensor("a", good + R"(,"data_offsets":[0,4.0])") + "}", 4, "fraction"},
      {"{" + tensor("a", good + R"(,"data_offsets":[0,99999999999999999999])") + "}", 4, "fraction"},
      {"{" + tensor("a", R"("dtype":"F32","shape":[2],"data_offsets":[0,4])") + "}", 4, "another size"},
      {"{" + tensor("a", R"("dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0])") + "}", 0, "impossible"},
      {"{" + tensor("a", R"("dtype":"F32","shape":[[1]],"data_offsets":[0,4])") + "}", 4, "list"},
      {"{" + tensor("a", good) + "}", 4, "lacks"},
      {"{" + tensor("a", good + R"(,"data_offsets":[0,4],"extra":"x")") + "}", 4, "unknown key"},
      {R"({"a":null})", 0, "null"},
      {R"({"a":true})", 0, "true or false"},
      {R"({"a":3})", 0, "number"},
      {"[]", 0, "'{'"},
      {" {}", 0, "'{'"},
      {"", 0, "'{'"},
      {"{", 0, "not JSON"},
      {"{} {}", 0, "not JSON"},
      {"{\"a\xff\":{}}", 0, "not JSON"},
      {std::string("{}\0", 3), 0, "zero byte"},
  };
  for (const Hostile& each : hostile) {
    EXPECT_NE(text_of_error(file_of(each.header, each.data)).find(each.text), std::string::npos)
        << each.header << " -> " << text_of_error(file_of(each.header, each.data));
  }
  EXPECT_NE(text_of_error(file_of("{" + tensor("a", R"("dtype":"I64","shape":[1],"data_offsets":[0,8])") + "}", 8), Errc::unsupported)
                .find("I64"),
            std::string::npos);
}

TEST(Safetensors, N5_bounds_depth_size_and_counts) {
  EXPECT_NE(text_of_error(file_of("{\"a\":" + std::string(1'000'000, '['), 0)), "accepted");
  EXPECT_NE(text_of_error(file_of("{\"a\":" + std::string(1'000'000, '{'), 0)), "accepted");
  Bytes huge(16);
  const std::uint64_t length = UINT64_MAX - 4;
  std::memcpy(huge.data(), &length, 8);
  EXPECT_NE(text_of_error(huge, Errc::over_limit).find("at most"), std::string::npos);
  Bytes beyond = file_of("{}", 0);
  beyond[0] = std::byte{200};
  EXPECT_NE(text_of_error(beyond).find("beyond the file"), std::string::npos);
  std::string shape = "1";
  for (std::size_t i = 0; i < kSafetensorsRankMax; ++i) shape += ",1";
  text_of_error(file_of(R"({"a":{"dtype":"F32","shape":[)" + shape + R"(],"data_offsets":[0,4]}})", 4), Errc::over_limit);
  std::string many = "{";
  for (std::size_t i = 0; i <= kSafetensorsTensorsMax; ++i) {
    many += (i == 0 ? "\"" : ",\"") + std::to_string(i) + R"(":{"dtype":"F32","shape":[0],"data_offsets":[0,0]})";
  }
  EXPECT_NE(text_of_error(file_of(many + "}", 0), Errc::over_limit).find("tensors"), std::string::npos);
}

}  // namespace
}  // namespace hourglass::nn
