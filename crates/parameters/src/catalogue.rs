/// A catalogue of algorithms of one kind, in which one line registers an algorithm: the name of its
/// variant, its [`Info`](crate::Info), and the function that builds it.
///
/// Makes the enum with `ALL` (in the order of the lines), `info`, `name` and a private `builder`, its
/// `Display` and `FromStr` by name, and [`Catalogue`](crate::Catalogue).
///
/// ```
/// # use parameters::{Info, Values};
/// # const ECHO: Info = Info { name: "echo", title: "Echo", source: "ours", parameters: &[] };
/// # struct Echo;
/// # trait Voice {}
/// # impl Voice for Echo {}
/// parameters::catalogue! {
///     /// Every voice that can be named.
///     pub enum Algorithm: "voice", built by fn(&Values) -> Box<dyn Voice>;
///     Echo: ECHO, |_| Box::new(Echo);
/// }
/// assert_eq!("echo".parse(), Ok(Algorithm::Echo));
/// assert_eq!("bang".parse::<Algorithm>().unwrap_err().to_string(), "no voice is called 'bang'");
/// ```
#[macro_export]
macro_rules! catalogue {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident: $kind:literal, built by $builder:ty;
        $($variant:ident: $info:path, $build:expr;)+
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        $vis enum $name {
            $(#[doc = concat!("Described by `", stringify!($info), "`.")] $variant,)+
        }

        impl $name {
            /// All of them, in the order of the documentation.
            pub const ALL: [Self; [$(stringify!($variant)),+].len()] = [$(Self::$variant),+];

            /// How the algorithm describes itself: name, source, parameters.
            pub const fn info(self) -> &'static $crate::Info {
                match self {
                    $(Self::$variant => &$info,)+
                }
            }

            /// The name in study files.
            pub const fn name(self) -> &'static str {
                self.info().name
            }

            /// What builds it.
            const fn builder(self) -> $builder {
                match self {
                    $(Self::$variant => $build,)+
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::ChoiceError;

            fn from_str(name: &str) -> Result<Self, $crate::ChoiceError> {
                $crate::find(name)
            }
        }

        impl $crate::Catalogue for $name {
            const KIND: &'static str = $kind;
            const CATALOGUE: &'static [Self] = &Self::ALL;

            fn description(self) -> &'static $crate::Info {
                self.info()
            }
        }
    };
}
