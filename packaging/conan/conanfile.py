# SPDX-License-Identifier: MIT
import os

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, get, rmdir


class Aspawn(ConanFile):
    name = "aspawn"
    version = "@VERSION@"
    license = "MIT"
    url = homepage = "@ADDRESS@"
    description = "Asynchronous posix_spawn on pure system calls"
    topics = ("process", "spawn", "linux")
    package_type = "library"
    languages = "C"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False]}
    default_options = {"shared": False}

    def validate(self):
        if self.settings.os not in ("Linux", "Android"):
            raise ConanInvalidConfiguration("aspawn is for Linux only")

    def layout(self):
        cmake_layout(self, src_folder="source")

    def source(self):
        get(self, "@DOWNLOAD@/aspawn-@VERSION@.tar.gz", sha256="@SHA256@", strip_root=True)

    def generate(self):
        CMakeToolchain(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        # Conan writes those of its own.
        for directory in ("lib/cmake", "lib/pkgconfig", "share/man"):
            rmdir(self, os.path.join(self.package_folder, directory))

    def package_info(self):
        # Otherwise aspawn::aspawn is all components, the drop-ins too.
        self.cpp_info.set_property("cmake_target_name", "aspawn::all")
        for name in ("psys", "aspawn"):
            component = self.cpp_info.components[name]
            component.libs = [name]
            component.set_property("pkg_config_name", name)
            # A child must not wake the dynamic linker: symbols are resolved at start.
            component.exelinkflags = component.sharedlinkflags = ["-Wl,-z,now"]
        compat = self.cpp_info.components["compat"]
        compat.libs = ["aspawn-compat"]
        compat.includedirs = ["include/aspawn-compat"]
        compat.requires = ["aspawn"]
        compat.system_libs = ["pthread"]
        compat.set_property("pkg_config_name", "aspawn-compat")
