import os
import re

from conan import ConanFile
from conan.errors import ConanException, ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir

required_conan_version = ">=2.0"


class BahdanauConan(ConanFile):
    name = "bahdanau"
    description = "Recurrent encoder-decoder models with attention, header-only C++20"
    license = "MIT"
    topics = ("attention", "seq2seq", "gru", "lstm", "translation", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"with_thrust": [True, False], "with_sentencepiece": [True, False], "with_mpi": [True, False]}
    default_options = {"with_thrust": False, "with_sentencepiece": False, "with_mpi": False}
    no_copy_source = True
    exports_sources = (
        "CMakeLists.txt", "LICENSE", "cmake/*", "include/*",
        "CHANGELOG.md", "CONTRIBUTING.md", "README.md", "README.zh-CN.md", "SECURITY.md",
        "docs/*", "tests/*", "examples/*", "benchmarks/CMakeLists.txt",
    )

    @property
    def _with_tests(self):
        """The tests take minutes to compile: only `-c tools.build:skip_test=False` asks for them."""
        return not self.conf.get("tools.build:skip_test", default=True, check_type=bool)

    def set_version(self):
        header = load(self, os.path.join(self.recipe_folder, "include", "bahdanau", "version.hpp"))
        self.version = ".".join(re.findall(r"#define BAHDANAU_VERSION_(?:MAJOR|MINOR|PATCH) +(\d+)", header))

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        # xtensor comes first: it names an exact version of xtl, which the range then accepts.
        self.requires("xtensor/[>=0.24 <1]")
        self.requires("xtl/[>=0.7 <1]")
        self.requires("xtensor-blas/[>=0.20 <1]")
        self.requires("openblas/[>=0.3.20 <1]")
        self.requires("utf8proc/[>=2.6 <3]")
        # The tool and the tests use it; Conan Center's xtensor brings it anyway. Our headers do without.
        self.requires("nlohmann_json/[>=3.10 <4]")
        if self.options.with_thrust:
            self.requires("thrust/[>=1.17 <3]")
        if self.options.with_sentencepiece:
            self.requires("sentencepiece/[>=0.1.97 <1]")
        if self.options.with_mpi:
            self.requires("openmpi/[>=4.1 <6]")

    def build_requirements(self):
        if self._with_tests:
            self.test_requires("catch2/[>=2.13 <4]")
            self.test_requires("rapidcheck/cci.20230815")
            self.test_requires("cli11/[>=2.1 <3]")

    def validate(self):
        try:
            check_min_cppstd(self, 20)
        except ConanException as error:
            raise ConanInvalidConfiguration(
                f"bahdanau needs C++20: set compiler.cppstd=20 or later in the profile ({error})") from error

    def package_id(self):
        self.info.clear()

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        for part in ("TESTS", "EXAMPLES"):
            toolchain.cache_variables[f"BAHDANAU_BUILD_{part}"] = self._with_tests
        toolchain.cache_variables["BAHDANAU_BUILD_BENCHMARKS"] = False
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        if self._with_tests:
            cmake.build()
            cmake.ctest(["--output-on-failure", "--exclude-regex", "^package"])  # we are being packaged

    def package(self):
        CMake(self).install()
        rmdir(self, os.path.join(self.package_folder, "share", "pkgconfig"))  # PkgConfigDeps writes it
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))

    def package_info(self):
        # The package has its own CMake files; what they look for comes from the requirements.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("share", "cmake", "bahdanau")]
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
