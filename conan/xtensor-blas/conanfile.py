import os

from conan import ConanFile
from conan.tools.files import copy, get
from conan.tools.layout import basic_layout

required_conan_version = ">=2.0"


class XtensorBlasConan(ConanFile):
    """xtensor-blas for machines that take everything else from Conan Center, which has no such package:

        conan create conan/xtensor-blas --build=missing -s compiler.cppstd=20
        conan create . --build=missing -s compiler.cppstd=20

    bahdanau uses the bindings to BLAS alone (xflens/), which include nothing of xtensor, so any xtensor will do. The
    rest, xlinalg.hpp say, needs an xtensor below 0.26.
    """

    name = "xtensor-blas"
    version = "0.20.0"
    description = "BLAS and LAPACK bindings of xtensor"
    license = "BSD-3-Clause"
    homepage = "https://github.com/xtensor-stack/xtensor-blas"
    package_type = "header-library"
    no_copy_source = True

    def layout(self):
        basic_layout(self)

    def requirements(self):
        self.requires("xtensor/[>=0.24 <1]")
        self.requires("openblas/[>=0.3.20 <1]")

    def package_id(self):
        self.info.clear()

    def source(self):
        get(self, f"https://github.com/xtensor-stack/xtensor-blas/archive/{self.version}.tar.gz",
            sha256="272f5d99bb7511a616bfe41b13a000e63de46420f0b32a25fa4fb935b462c7ff", strip_root=True)

    def package(self):
        copy(self, "LICENSE*", self.source_folder, os.path.join(self.package_folder, "licenses"))
        include = os.path.join(self.source_folder, "include")
        # Besides its own headers the bindings, xflens, whose files end in .h, .tcc and .cxx.
        for pattern in ("*.hpp", "*.h", "*.tcc", "*.cxx"):
            copy(self, pattern, include, os.path.join(self.package_folder, "include"))

    def package_info(self):
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
