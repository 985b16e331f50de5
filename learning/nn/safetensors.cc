// SPDX-License-Identifier: Apache-2.0
#include "learning/nn/safetensors.h"

#include <algorithm>
#include <cstring>
#include <set>

#include <nlohmann/json.hpp>

namespace hourglass::nn {
namespace {

constexpr std::size_t kLengthBytes = 8;
constexpr std::string_view kMetadataKey = "__metadata__";

struct Entry {
  std::string name, dtype;
  std::vector<std::uint64_t> shape, offsets;
};

/// Reads the header event by event, so that nothing is stored that the format does not know, however deep or long the JSON is.
class HeaderReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  std::vector<Entry> entries;
  Metadata metadata;
  Error error{Errc::malformed, ""};

  bool start_object(std::size_t /*size*/) override {
    if (place_ == Place::start) return enter(Place::root);
    if (place_ == Place::root && !key_.empty()) return enter(key_ == kMetadataKey ? Place::metadata : Place::tensor);
    if (place_ == Place::root) return fail("an unnamed tensor");
    return fail("an object too deep in the header");
  }
  bool end_object() override {
    if (place_ == Place::tensor) {
      if (fields_.size() != 3) return fail("tensor '" + entries.back().name + "' lacks dtype, shape or data_offsets");
      return enter(Place::root);
    }
    return enter(place_ == Place::metadata ? Place::root : Place::end);
  }
  bool key(string_t& name) override {
    key_ = name;
    if (place_ == Place::root) {
      if (!names_.insert(name).second) return fail("the name '" + name + "' stands twice");
      fields_.clear();
      if (name == kMetadataKey) return true;
      if (entries.size() == kSafetensorsTensorsMax)
        return fail(Errc::over_limit, "more than " + std::to_string(kSafetensorsTensorsMax) + " tensors");
      entries.push_back({name, {}, {}, {}});
      return true;
    }
    if (place_ == Place::metadata) return metadata.count(name) == 0 || fail("the metadata '" + name + "' stands twice");
    if (name != "dtype" && name != "shape" && name != "data_offsets") return fail("unknown key '" + name + "' of a tensor");
    return fields_.insert(name).second || fail("the key '" + name + "' stands twice");
  }
  bool string(string_t& text) override {
    if (place_ == Place::metadata) {
      metadata.emplace(key_, text);
      return true;
    }
    if (place_ != Place::tensor || key_ != "dtype") return fail("a string where none belongs");
    entries.back().dtype = text;
    return true;
  }
  bool start_array(std::size_t /*size*/) override {
    if (place_ != Place::tensor || (key_ != "shape" && key_ != "data_offsets")) return fail("a list where none belongs");
    return enter(Place::list);
  }
  bool end_array() override { return enter(Place::tensor); }
  bool number_unsigned(number_unsigned_t number) override {
    if (place_ != Place::list) return fail("a number where none belongs");
    auto& list = key_ == "shape" ? entries.back().shape : entries.back().offsets;
    if (list.size() == kSafetensorsRankMax)
      return fail(Errc::over_limit, "more than " + std::to_string(kSafetensorsRankMax) + " dimensions");
    list.push_back(number);
    return true;
  }
  bool null() override { return fail("null in the header"); }
  bool boolean(bool /*value*/) override { return fail("true or false in the header"); }
  bool number_integer(number_integer_t /*value*/) override { return fail("a negative number in the header"); }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return fail("a fraction in the header"); }
  bool binary(binary_t& /*value*/) override { return fail("binary data in the header"); }
  bool parse_error(std::size_t position, const std::string& /*token*/, const nlohmann::detail::exception& /*cause*/) override {
    return fail("the header is not JSON at byte " + std::to_string(position));
  }

 private:
  enum class Place { start, root, metadata, tensor, list, end };
  bool enter(Place place) {
    place_ = place;
    return true;
  }
  bool fail(std::string text) { return fail(Errc::malformed, std::move(text)); }
  bool fail(Errc code, std::string text) {
    error = {code, "safetensors: " + std::move(text)};
    return false;
  }

  Place place_ = Place::start;
  std::string key_;
  std::set<std::string> names_, fields_;
};

Error malformed(const std::string& text) { return {Errc::malformed, "safetensors: " + text}; }

/// The number of values, or an error where it overflows or disagrees with the offsets.
Status check_entry(const Entry& entry, std::uint64_t expected_begin, std::uint64_t data_bytes) {
  const std::string quoted = "tensor '" + entry.name + "'";
  if (entry.dtype != "F32") return {Errc::unsupported, "safetensors: " + quoted + " is of type " + entry.dtype.substr(0, 16) + ", not F32"};
  if (entry.offsets.size() != 2) return malformed(quoted + " needs two data_offsets");
  const std::uint64_t begin = entry.offsets[0], end = entry.offsets[1];
  if (begin > end || end > data_bytes) return malformed(quoted + " reaches beyond the data");
  if (begin != expected_begin) return malformed(quoted + " leaves a hole or overlaps another");
  std::uint64_t bytes = sizeof(float);
  for (const std::uint64_t extent : entry.shape) {
    if (__builtin_mul_overflow(bytes, extent, &bytes)) return malformed(quoted + " has an impossible shape");
  }
  if (bytes != end - begin) return malformed(quoted + " has another size than its shape says");
  return {};
}

}  // namespace

Bytes write_safetensors(std::span<const TensorView> tensors, const Metadata& metadata) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header[std::string(kMetadataKey)] = metadata;
  std::size_t data_bytes = 0;
  for (const TensorView& tensor : tensors) {
    std::uint64_t count = 1;
    for (const std::uint64_t extent : tensor.shape) count *= extent;
    HG_CHECK(count == tensor.values.size(), "a tensor's shape must be the shape of its values");
    HG_CHECK(!tensor.name.empty() && tensor.name != kMetadataKey && !header.contains(tensor.name), "a tensor needs a name of its own");
    const std::size_t end = data_bytes + tensor.values.size_bytes();
    header[tensor.name] = {{"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {data_bytes, end}}};
    data_bytes = end;
  }
  std::string text = header.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  text.resize((text.size() + kLengthBytes - 1) / kLengthBytes * kLengthBytes, ' ');
  HG_CHECK(text.size() <= kSafetensorsHeaderMax, "the header is too long");
  Bytes out(kLengthBytes + text.size() + data_bytes);
  const std::uint64_t length = text.size();
  std::memcpy(out.data(), &length, kLengthBytes);
  std::memcpy(out.data() + kLengthBytes, text.data(), text.size());
  std::byte* at = out.data() + kLengthBytes + text.size();
  for (const TensorView& tensor : tensors) {
    if (!tensor.values.empty()) std::memcpy(at, tensor.values.data(), tensor.values.size_bytes());
    at += tensor.values.size_bytes();
  }
  return out;
}

Result<TensorFile> read_safetensors(std::span<const std::byte> file) {
  if (file.size() < kLengthBytes) return malformed("shorter than its header's length");
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), kLengthBytes);
  if (length > kSafetensorsHeaderMax) {
    return {Errc::over_limit,
            "safetensors: a header of " + std::to_string(length) + " bytes; at most " + std::to_string(kSafetensorsHeaderMax)};
  }
  if (length > file.size() - kLengthBytes) return malformed("the header reaches beyond the file");
  const std::string_view text = as_text(file.subspan(kLengthBytes, length));
  if (text.empty() || text.front() != '{') return malformed("the header does not start with '{'");
  if (text.find('\0') != std::string_view::npos) return malformed("a zero byte in the header");  // the JSON reader would stop there
  HeaderReader header;
  if (!nlohmann::json::sax_parse(text.begin(), text.end(), &header)) return header.error;

  const std::span<const std::byte> data = file.subspan(kLengthBytes + length);
  std::stable_sort(header.entries.begin(), header.entries.end(), [](const Entry& a, const Entry& b) { return a.offsets < b.offsets; });
  TensorFile out;
  out.metadata = std::move(header.metadata);
  std::uint64_t at = 0;
  for (Entry& entry : header.entries) {
    if (const Status good = check_entry(entry, at, data.size()); !good) return good.error();
    at = entry.offsets[1];
    out.tensors.push_back(
        {std::move(entry.name), std::move(entry.shape), from_bytes<float>(data.subspan(entry.offsets[0], at - entry.offsets[0]))});
  }
  if (at != data.size()) return malformed(std::to_string(data.size() - at) + " bytes behind the last tensor");
  return out;
}

}  // namespace hourglass::nn
