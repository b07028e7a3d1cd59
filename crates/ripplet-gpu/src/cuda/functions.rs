//! Tables of functions of a library that may be missing, found by name at run time.
//!
//! cudarc's own wrappers panic if a library lacks a function. They return result codes as a Rust
//! `enum`, which is undefined for a code that only a newer driver knows. So the functions in use
//! are declared here once more, with codes as numbers: a missing function is an error with its
//! name, and any code is valid. The compiler compares each signature with cudarc's.

/// Declares a table of functions of the library that `sys`, in scope, is cudarc's binding of.
///
/// Functions after `also` are not compared with cudarc; a comment at each gives the reason.
macro_rules! functions {
    (
        $(#[$about:meta])*
        $table:ident -> $code:ty {
            $($name:ident($($type:ty),* $(,)?);)*
        }
        $(also {
            $($other:ident($($other_type:ty),* $(,)?);)*
        })?
    ) => {
        $(#[$about])*
        #[allow(non_snake_case)]
        pub struct $table {
            $(pub(super) $name: unsafe extern "C" fn($($type),*) -> u32,)*
            $($(pub(super) $other: unsafe extern "C" fn($($other_type),*) -> u32,)*)?
        }

        $(const _: unsafe fn($($type),*) -> $code = sys::$name;)*
        const _: () = assert!(size_of::<$code>() == size_of::<u32>());

        impl $table {
            /// Finds all functions in the library; the error is the name of a missing one.
            ///
            /// # Safety
            /// The library is there (cudarc panics otherwise), and is what its name says.
            unsafe fn find() -> Result<$table, &'static str> {
                // SAFETY: the library is there.
                let library = unsafe { sys::culib() };
                Ok($table {
                    $($name: {
                        let symbol = concat!(stringify!($name), "\0").as_bytes();
                        // SAFETY: the function of this name has this type, as compared above, and
                        // cudarc never unloads the library.
                        *unsafe { library.get(symbol) }.map_err(|_| stringify!($name))?
                    },)*
                    $($($other: {
                        let symbol = concat!(stringify!($other), "\0").as_bytes();
                        // SAFETY: as above; the type is that of NVIDIA's header.
                        *unsafe { library.get(symbol) }.map_err(|_| stringify!($other))?
                    },)*)?
                })
            }
        }
    };
}

pub(super) use functions;
