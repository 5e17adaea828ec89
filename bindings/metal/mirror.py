# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes what follows from the headers of Metal for Objective-C (framework/include/Metal), which declare the interface:

    mirror.py headers FOLDER   FOLDER/Metal/MTL*.hpp, the same enumerations and classes in C++ with metal-cpp's names;
                               and MTLPixelFormat.h, from the loader's table
    mirror.py forward FILE     the classes of Objective-C, whose methods call the functions of C++

`- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)length options:(MTLResourceOptions)options;` becomes the function
`Buffer* newBuffer(NS::UInteger length, ResourceOptions options)` and a method that calls it. The tables below hold what
the headers do not say. MTLTypes.hpp is written by hand.
"""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
HEADERS = HERE / "framework/include/Metal"
PIXEL_FORMATS = HERE.parents[1] / "loader/include/smelt/loader/pixel_formats.def"

# The C++ name is the first word of the selector, up to "With" if the word has an argument. These names differ.
NAMES = {
    "constantDataAtIndex": "constantData",
    "encodeWaitForEvent": "encodeWait",
    "generateMipmapsForTexture": "generateMipmaps",
    "imageblockMemoryLengthForDimensions": "imageblockMemoryLength",
}
# These functions are const, and so are the getters of properties.
CONST = re.compile("(supports|is[A-Z]|minimum|maxAvailable|contains|imageblock|functionHandle|newVisible).*")
# These functions take NS::Range by reference.
BY_REFERENCE = {"addDebugMarker", "didModifyRange", "setConstantValues"}
# The headers define these functions, whose results are the same for all objects.
RESULTS = {
    "": ["CaptureManager.stopCapture", "CaptureManager.setDefaultCaptureScope", "CaptureScope.beginScope",
         "CaptureScope.endScope", "CommandBuffer.useResidencySet", "CommandBuffer.useResidencySets",
         "CommandQueue.insertDebugCaptureBoundary", "CommandQueue.addResidencySet", "CommandQueue.addResidencySets",
         "CommandQueue.removeResidencySet", "CommandQueue.removeResidencySets"],
    "0": ["ComputePipelineState.imageblockMemoryLength", "Device.locationNumber", "Device.maxTransferRate",
          "Device.peerGroupID", "Device.maxArgumentBufferSamplerCount"],
    "16": ["Device.minimumTextureBufferAlignmentForPixelFormat", "Device.minimumLinearTextureAlignmentForPixelFormat"],
    "true": ["Device.headless", "Device.isHeadless", "Device.hasUnifiedMemory", "Device.supportsFunctionPointers",
             "Device.supportsBCTextureCompression"],
    "false": ["CaptureManager.supportsDestination", "CaptureManager.isCapturing",
              "ComputePipelineState.supportIndirectCommandBuffers", "Device.lowPower", "Device.isLowPower",
              "Device.removable", "Device.isRemovable", "Device.supportsRaytracing", "Device.supportsDynamicLibraries",
              "Device.supportsShaderBarycentricCoordinates", "Device.supportsPullModelInterpolation",
              "Device.supportsQueryTextureLOD", "Device.rasterOrderGroupsSupported",
              "Device.areRasterOrderGroupsSupported", "Device.depth24Stencil8PixelFormatSupported",
              "Device.isDepth24Stencil8PixelFormatSupported", "Device.supportsCounterSampling",
              "Texture.framebufferOnly", "Texture.isFramebufferOnly", "Texture.shareable", "Texture.isShareable"],
    "nullptr": ["CaptureManager.defaultCaptureScope", "Library.installName"],
    "active()": ["Argument.isActive"],
    "argument()": ["Binding.isArgument"],
    "used()": ["Binding.isUsed"],
    "DeviceLocationBuiltIn": ["Device.location"],
    "ReadWriteTextureTier2": ["Device.readWriteTextureSupport"],
    "ArgumentBuffersTier2": ["Device.argumentBuffersSupport"],
    "LibraryTypeExecutable": ["Library.type"],
}
# These functions exist only in C++.
EXTRA = {
    "CaptureManager": ["void startCapture(const Device* device);", "void startCapture(const CommandQueue* queue);"],
    "Device": [
        "/// A library from bytes, which are copied. Not in metal-cpp.",
        "Library* newLibrary(const NS::Data* data, NS::Error** error);",
    ],
    "Library": [
        "/// The bytes of its Metal library, which Objective-C programs ask for by this name. For a library of source,",
        "/// this call compiles them. Returns null if that fails.",
        "NS::Data* libraryDataContents() const;",
    ],
    "SharedEventListener": ["static SharedEventListener* alloc();", "SharedEventListener* init();"],
}
# C++ does not have these, since there are no counters.
ONLY_OBJECTIVE_C = {"Counter", "CounterSampleBuffer.label", "CounterSampleBuffer.resolveCounterRange"}
# framework/src implements the listener by hand; there are no objects of the other classes.
NOT_FORWARDED = {"MTLCounter", "MTLCounterSet", "MTLCounterSampleBuffer", "MTLSharedEventListener"}
# Programs do not create these copyable objects.
MADE_BY_SMELT = {"Architecture"}

STRUCTURES = {"MTLSize", "MTLSizeAndAlign", "MTLOrigin", "MTLRegion", "NSRange"}
BLOCKS = {
    "void (^)(id<MTLFunction> function, NSError* error)": "MTLNewFunctionCompletionHandler",
    "void (^)(void* bytes, NSUInteger length)": "MTLBufferDeallocator",
}
PLAIN = {"BOOL": "bool", "id": "NS::Object*", "CFTimeInterval": "double"}


class Type:
    """A type of Objective-C, and what it is in C++."""

    def __init__(self, text):
        self.objc = re.sub(r" ?\b(__unsafe_unretained|__autoreleasing)\b", "", text).strip()
        self.text = BLOCKS.get(self.objc, self.objc)
        self.is_list = self.text.endswith("[]")
        self.is_error = self.text == "NSError**"
        self.is_handler = re.fullmatch(r"MTL\w+(Handler|Block|Deallocator)", self.text) is not None
        # Where a function puts a further object.
        self.is_out = self.text.startswith("MTLAutoreleased")
        named = re.fullmatch(r"(?:const )?(?:id<MTL(\w+)>|MTL(?!Autoreleased|Timestamp)(\w+)\*)(?:\[\])?", self.text)
        self.metal = named and (named.group(1) or named.group(2))
        self.is_foundation = not self.is_error and re.match(r"NS\w+(<.*>)?\*|dispatch_data_t", self.text) is not None

    def is_core(self):
        """Whether it is an object with a C++ object."""
        return not self.is_list and (self.metal is not None or self.text == "id")

    def cpp(self):
        if self.metal:
            return self.metal + "*"
        text = re.sub(r"\bNS(?=[A-Z])", "NS::", re.sub(r"<.*>|\bMTL", "", self.text))
        return PLAIN.get(text, text)

    def parameter(self, name, function):
        if self.is_list:
            return f"const {self.metal + '* const' if self.metal else 'NS::UInteger'} {name}[]"
        if self.is_handler or self.text == "NSRange" and function in BY_REFERENCE:
            return f"const {self.cpp()}& {name}"
        constant = self.metal or self.is_out or self.is_foundation or self.text == "dispatch_queue_t"
        return f"{'const ' if constant or (function, self.text) == ('newBuffer', 'void*') else ''}{self.cpp()} {name}"

    def given(self, name, words):
        """What the C++ function gets for the method's argument of this name."""
        if self.is_list and self.metal:
            length = "range.length" if words[-1][1].text == "NSRange" else "count"
            return f"cores<MTL::{self.metal}>({name}, {length}).data()"
        if self.is_core():
            return f"core<{'MTL::' + self.metal if self.metal else 'NS::Object'}>({name})"
        if self.text == "MTLSharedEventNotificationBlock":
            return f"notification(listener, {name})"
        if self.is_handler:
            return f"as_callback<MTL::{self.cpp()}>({name})"
        if self.is_error:
            return f"ErrorOut({name})"
        if self.is_out:
            return f"ObjectOut<MTL::{self.cpp()[len('Autoreleased'):-1]}>({name})"
        if self.is_foundation or self.text in STRUCTURES:
            return f"in({name})"
        if re.fullmatch(r"MTL\w+", self.text):
            return f"static_cast<MTL::{self.cpp()}>({name})"
        return name


class Method:
    """`words` are those of the selector, each with the type and the name of its argument or with None twice."""

    def __init__(self, kind, result, words, note=None, is_getter=False):
        self.kind, self.result, self.words, self.note, self.is_getter = kind, result, words, note, is_getter
        first, type, _ = words[0]
        self.name = NAMES.get(first, re.sub("With[A-Z].*", "", first) if type else first)
        self.arguments = [(type, name) for _, type, name in words if type]

    def cpp(self, owner):
        result = owner + "*" if self.result.text == "instancetype" else self.result.cpp()
        head = f"{'static ' if self.kind == '+' else ''}{result} {self.name}("
        parameters = [type.parameter(name, self.name) for type, name in self.arguments]
        tail = ") const" if self.is_getter or CONST.fullmatch(self.name) else ")"
        value = next((value for value, names in RESULTS.items() if f"{owner}.{self.name}" in names), None)
        if value is None:
            return wrapped(head, parameters, tail + ";")
        unnamed = [re.sub(r" ?\w+(?=(\[\])?$)", "", parameter) for parameter in parameters]
        return wrapped(head, unnamed, tail + (f" {{ return {value}; }}" if value else " {}"))

    def objc(self, owner):
        selector = " ".join(f"{word}:({type.objc}){name}" if type else word for word, type, name in self.words)
        call = f"MTL::{owner}::" if self.kind == "+" else f"core<MTL::{owner}>(self)->"
        call += f"{self.name}({', '.join(type.given(name, self.words) for type, name in self.arguments)})"
        result = self.result
        is_new = self.name.startswith("new")
        if result.is_core():
            call = f"{'wrap' if is_new else 'give'}({call})"
        elif result.is_foundation or result.text in STRUCTURES:
            call = f"out({call})"
        elif result.text not in ("void", "void*"):
            call = f"static_cast<{result.text}>({call})"
        has_pool = (result.is_core() and not is_new or result.is_foundation
                    or any(type.is_foundation or type.is_error for type, _ in self.arguments))
        return [f"{self.kind} ({result.objc}){selector} {{", *["  Scope scope;"] * has_pool,
                f"  {'' if result.text == 'void' else 'return '}{call};", "}"]


def wrapped(head, parameters, tail):
    """A declaration, with line breaks after commas."""
    lines = [head]
    for i, parameter in enumerate(parameters):
        end = ", " if i + 1 < len(parameters) else tail
        if i and len(lines[-1] + parameter + end.rstrip()) > 118:
            lines.append(" " * len(head))
        lines[-1] += parameter + end
    return [line.rstrip() for line in lines[:-1]] + [lines[-1] if parameters else head + tail]


def words_of(selector):
    words, at = [], 0
    while match := re.compile(r" *(\w+)(:\()?").match(selector, at):
        at = start = match.end()
        if not match.group(2):
            return [(match.group(1), None, None)]
        depth = 1
        while depth:
            depth += {"(": 1, ")": -1}.get(selector[at], 0)
            at += 1
        name = re.compile(r"\w+").match(selector, at)
        words.append((match.group(1), Type(selector[start:at - 1]), name.group()))
        at = name.end()
    return words


MEMBER = re.compile(r"/\*\*(.*?)\*/|@property(?:\(([^)]*)\))? (.*?)(\w+);|([-+]) \(([^)]*)\)(.*?)(?: NS_\w+)?;", re.S)


def methods_of(body):
    """Pairs of a method and, if a getter has another name than its property, a getter with the property's name."""
    note = None
    for said, attributes, type, property, kind, result, selector in MEMBER.findall(body):
        if said:
            note = said
            continue
        if property:
            getter = re.search(r"getter=(\w+)", attributes)
            words = [(getter.group(1) if getter else property, None, None)]
            other = Method("-", Type(type), [(property, None, None)], note, True) if getter else None
            yield Method("-", Type(type), words, None if getter else note, True), other
            if "readonly" not in attributes:
                setter = f"set{property[0].upper()}{property[1:]}"
                yield Method("-", Type("void"), [(setter, Type(type), property)]), None
        else:
            selector = " ".join(selector.split()).replace(": (", ":(")
            yield Method(kind, Type(result), words_of(selector), note), None
        note = None


ITEM = re.compile(
    r"^/\*(?P<note>\*?.*?)\*/$"
    r"|^#import <Metal/(?P<header>\w+)\.h>$"
    r"|^#define MTL(?P<other>\w+) MTL(?P<same>\w+)$"
    r"|^typedef MTL(?P<known>\w+) MTL(?P<alias>\w+);$"
    r"|^typedef NS_(?P<sort>ENUM|OPTIONS)\((?P<width>\w+), MTL(?P<enum>\w+)\) \{\n(?P<values>.*?)\n\};$"
    r"|^@(?P<kind>protocol|interface) MTL(?P<name>\w+)(?: : \w+)?(?: <(?P<base>\w+)>)?\n(?P<body>.*?)^@end$",
    re.S | re.M)


def pixel_formats():
    """MTLPixelFormat.h: `rgba8unorm_srgb` of the table is MTLPixelFormatRGBA8Unorm_sRGB."""
    values = ["  MTLPixelFormatInvalid = 0,"]
    for name, number in re.findall(r"^SMELT_\w+_FORMAT\((\w+), (\d+),", PIXEL_FORMATS.read_text(), re.M):
        name = re.sub(r"(\d)X(\d)", r"\1x\2", name.upper())
        for word in ("Unorm", "Snorm", "Uint", "Sint", "Ufloat", "Float", "sRGB", "Depth", "Stencil"):
            name = name.replace(word.upper(), word)
        values.append(f"  MTLPixelFormat{name} = {number},")
    return ["/* Made by mirror.py from pixel_formats.def. */",
            "/* The formats of textures, and those that are refused by name (docs/reference/textures.md). */",
            "#pragma once", "", "#import <Metal/MTLTypes.h>", "",
            "typedef NS_ENUM(NSUInteger, MTLPixelFormat) {", *values, "};"]


def items_of(name):
    """The declarations and comments of a header."""
    text = "\n".join(pixel_formats()) if name == "MTLPixelFormat" else (HEADERS / f"{name}.h").read_text()
    return [match.groupdict() for match in ITEM.finditer(text)]


def base_of(item):
    return item["base"][3:] if item["base"] and item["base"].startswith("MTL") else None


def comment(text, mark):
    """As C++ says it: Metal's names without their prefix, null for nil."""
    text = re.sub(r"\n \* ?", "\n", text).strip()
    for word, other in (("MTL(?=[A-Z])", ""), (r"(nil|NULL)\b", "null"), (r"YES\b", "true"), (r"NO\b", "false")):
        text = re.sub(r"\b" + word, other, text)
    text = re.sub(r"(^|[.:] )(null|true|false)", lambda match: match[1] + match[2].capitalize(), text)
    return [f"{mark} {line}" for line in text.split("\n")]


def class_of(item, note):
    name, base = item["name"], base_of(item)
    copies = item["base"] == "NSCopying"
    lines = comment(note, "///") if note else []
    above = f"NS::{'Copying' if copies else 'Referencing'}<{name}{', ' + base if base else ''}>"
    lines += [f"class SMELT_METAL_API {name} : public {above} {{", " public:"]
    members = []
    if copies and name not in MADE_BY_SMELT:
        members += [f"static {name}* alloc();", f"{name}* init();"]
    for method, other in methods_of(item["body"]):
        for one in filter(None, (other, method)):
            if f"{name}.{one.name}" not in ONLY_OBJECTIVE_C:
                members += (comment(one.note, "///") if one.note else []) + one.cpp(name)
    return lines + ["  " + line for line in members + EXTRA.get(name, [])] + ["};"]


def enumeration_of(item):
    width = item["width"].replace("NS", "NS::")
    head = [f"enum {item['enum']} : {width} {{"]
    if item["sort"] == "OPTIONS":
        head = [f"using {item['enum']} = {width};", f"enum : {width} {{"]
    values = re.sub("^  MTL", "  ", item["values"], flags=re.M).replace("NSUIntegerMax", "NS::UIntegerMax")
    return head + [values, "};"]


def header_of(name):
    about, includes, lines, note = [], [], [], None
    for item in items_of(name):
        if item["note"] and not item["note"].startswith("*"):
            is_about = not re.match(" SPDX| Made by", item["note"])
            about += comment(item["note"], "//") if is_about else []
        elif item["header"]:
            includes.append(f'#include "Metal/{item["header"]}.hpp"')
        elif item["other"]:
            lines.append(f"constexpr auto {item['other']} = {item['same']};")
        elif item["alias"]:
            lines.append(f"using {item['alias']} = {item['known']};")
        elif item["enum"]:
            lines += enumeration_of(item)
        elif item["name"] and item["name"] not in ONLY_OBJECTIVE_C:
            lines += class_of(item, note)
        note = item["note"] and item["note"][1:]
    head = [f"// Made by mirror.py from {name}.h.", *about, "#pragma once", "", *includes]
    return head + ["", "namespace MTL {", "", *lines, "", "}  // namespace MTL"] if lines else head


def write(path, lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n")


def write_headers(folder):
    folder = pathlib.Path(folder) / "Metal"
    names = [name for name in in_order("Metal", []) if name != "MTLTypes"]
    for name in names:
        write(folder / f"{name}.hpp", header_of(name))
    write(folder / "MTLPixelFormat.h", pixel_formats())
    classes = sorted({item["name"] for name in names for item in items_of(name) if item["name"]} - ONLY_OBJECTIVE_C)
    declared = [f"class {name};" for name in classes]
    write(folder / "classes.hpp", ["// Made by mirror.py.", "#pragma once", "", "namespace MTL {", *declared, "}"])


def forwarding_class(item):
    owner = item["name"]
    lines = [f"@implementation MTL{owner}"]
    if item["kind"] == "protocol":
        base = f"SmeltMTL{base_of(item)}" if base_of(item) else "SmeltMetalObject"
        lines = [f"@interface SmeltMTL{owner} : {base} <MTL{owner}>", "@end", f"@implementation SmeltMTL{owner}"]
    if item["base"] == "NSCopying":
        lines += ["- (id)copyWithZone:(NSZone*)zone {", f"  return wrap(core<MTL::{owner}>(self)->copy());", "}"]
        if owner not in MADE_BY_SMELT:
            lines += ["+ (instancetype)alloc {", f"  return wrap(MTL::{owner}::alloc()->init());", "}"]
    for method, _ in methods_of(item["body"]):
        lines += method.objc(owner)
    return lines + ["@end"]


def in_order(name, order):
    """Adds a header to the list, after those that it imports."""
    for item in items_of(name):
        if item["header"] and item["header"] not in order:
            in_order(item["header"], order)
    order.append(name)
    return order


def write_forward(file):
    lines = ["// Made by mirror.py.", '#include "bridge.hpp"', "", "using namespace smelt::framework;"]
    for name in in_order("Metal", []):
        for item in items_of(name):
            if item["name"] and "MTL" + item["name"] not in NOT_FORWARDED:
                lines += ["", *forwarding_class(item)]
    write(pathlib.Path(file), lines)


if __name__ == "__main__":
    {"headers": write_headers, "forward": write_forward}[sys.argv[1]](sys.argv[2])
