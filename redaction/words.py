"""Word lists that distinguish values from the prose around them."""

# A value that is one of these is a placeholder, a type, a state or the start of a sentence.
NOT_SECRETS = frozenset(
    """
    a abc access accepted after again all allowed also always an and any anystr api app are args argv array
    as ask asked at available bad base64 basic bearer because been before below better blank blob bool
    boolean both bound broken buffer but by bytea bytes call called callback can cannot change changed
    changeit changeme char check checked checks class click client code cols config confirm const contains
    copied correct could create created cred credential credentials creds current data date default defaults
    define deleted description digest disable disabled display does don't each either email empty enable
    enabled encoded encrypted enter entered env environ environment error errors example exists expired
    expires export fail failed fails false fetch field fields file find fixed flag for forgot forgotten form
    format found from function generate generated get getpass given handler handling has hash hashed have
    header headers here hidden hide how id if import in incorrect inherit input insert int integer into
    invalid is issue issued it its itself json key keys keyring kind label later leaked length literal local
    log login long lost make mandatory manager mask masked max maybe mechanism meta method min mismatch
    missing mode multiline must my name needed never new next nil no none nope not nothing null number
    object of off ok on once one only option optional options opts or other our output own page param
    parameter params parse pass passed passes passing passwd password passwords path pending per placeholder
    plain plaintext please policy present private prompt promise property protected provided public pwd
    random read reader record redacted ref refresh refreshed rejected remove removed request require
    required requires reset response rest result retry return returned returns revoked root rotate rotated
    rotation run safe same sealed second secret secrets secretstr secure see self send sensitive sent server
    service session set sets setting settings setup shared short should show sign signed since skip skipped
    so some soon state static status still store stored str string strings success such system table tbd
    temp template test tests text than that the their them then there these they this those time to todo
    token tokens too true try turn two type types typing under undefined union unique unknown unless unset
    until update updated use used user username users uses using uuid valid validated value values var
    varchar variable verify via void wait was we weak web were what when where which who will with within
    without works write written wrong xxx yes you your
    obligatoire obligatorio obligatoria requis requise requerido requerida incorrecte incorrecto incorrecta
    invalide falsch richtig erforderlich vergessen leer oublié olvidada obrigatória incorreta
    """.split()
)
# No passphrase of words holds one of these; a sentence about one nearly always does.
SENTENCE_WORDS = (NOT_SECRETS - {"correct", "table", "hash", "root", "page", "state", "second"}) | frozenset(
    """
    about above across add added against along among another around asking away back become becomes being
    between bob bring came clear comes contact creating day days detail details did disk do doing done down
    during end every few first fix follow following forget full give gives go goes going gone good got great
    had happens hard her him his hold holds hours i inside instead just keep keeps kept know known last
    least leave let like link list load look made mail makes many mean means minutes more most move much
    need needs note now off often old open others out over part place point put puts question read really
    right say says section seems several shall she since something step stop take taken tell tells thing
    things think through today together tomorrow twice up us very want wants way weeks well went while whole
    why won't work would year yesterday yet
    """.split()
)
# A name in code ends with such a word; a password does not, unless digits follow it.
TYPE_ENDINGS = (
    *(
        "Auth",
        "Authentication",
        "Authenticator",
        "Base",
        "Builder",
        "Bytes",
        "Class",
        "Client",
        "Code",
        "Config",
    ),
    *(
        "Context",
        "Credential",
        "Credentials",
        "Data",
        "Encoder",
        "Enum",
        "Error",
        "Exception",
        "Factory",
        "Field",
    ),
    *(
        "Filter",
        "Form",
        "Func",
        "Function",
        "Handler",
        "Hash",
        "Hasher",
        "Id",
        "Info",
        "Input",
        "Int",
        "Interface",
    ),
    *("Key", "KeyPair", "Kind", "Manager", "Map", "Model", "Name", "Option", "Optional", "Options", "Parser"),
    *(
        "Password",
        "Policy",
        "Provider",
        "Ref",
        "Request",
        "Response",
        "Schema",
        "Secret",
        "Secrets",
        "Service",
    ),
    *(
        "Settings",
        "Source",
        "Spec",
        "State",
        "Store",
        "Str",
        "String",
        "Struct",
        "Text",
        "Token",
        "Tokens",
        "Type",
    ),
    *("Types", "Union", "Validator", "Var", "View"),
)
# A value that ends like this is a file.
FILE_ENDINGS = (
    *(".pem", ".key", ".crt", ".json", ".yml", ".yaml", ".toml", ".txt", ".py", ".js", ".ts", ".jsx", ".tsx"),
    *(".env", ".md", ".rs", ".go", ".cfg", ".ini"),
)
# Before ``key`` these mean a secret.
KEY_OWNERS = tuple(
    """
    api access private priv signing encryption account auth master storage shared service subscription
    admin secret client deploy license webhook functions write ingest server recovery root crypto hmac jwt
    aes session app application consumer bot db database integration
    """.split()
)
# Before ``KEY`` these mean no secret; nearly everything else does, as environment variables are written.
PLAIN_KEY_OWNERS = tuple(
    """
    primary foreign public pub sort partition cache idempotency routing row hash group object s3 lookup
    index registry hkey map dict event message search range shard unique composite tag label setting
    config hot short enter return escape arrow shift control ctrl alt meta delete tab any every this that
    first last next same no a the
    """.split()
)
# Before ``pass`` these mean a password, also without a separator.
PASS_OWNERS = tuple(
    """
    store key require db user root admin smtp mail become ssh sudo login ssl ca ldap ftp http proxy my vnc
    """.split()
)
# Before any of the names these mean something else: ``next_page_token``, ``public_key``.
PLAIN_OWNERS = tuple(
    """
    next page continuation cursor input output total public special prompt completion cache cached
    creation context thinking resume
    """.split()
)
# A name that ends like this describes a secret: ``password_file``, ``token_type``.
PLAIN_ENDINGS = tuple(
    """
    id ids name type path file url uri endpoint count limit expiry expires expiration ttl length len size
    bytes field env var arn ref version prefix suffix policy policies usage budget hint label regex
    pattern rule manager mgr store provider reset strength format class index at in timeout lifetime round
    day required enabled disabled stdin command cmd helper method mode scope status bucket rotation
    validator hasher input prompt check kind source location dir map set list cost price used left per
    rate window alias spec ops pair ring board down up code
    """.split()
)
